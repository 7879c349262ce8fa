import { createHash } from 'node:crypto'
import { escapeIdentifier } from 'pg'
import { internalSchema } from '../session.ts'
import { nodesOf, type Send } from './citus.ts'

/** The namespaces that were created, by name, with the address of each; undefined: that of DATABASE_URL. */
export type Registry = ReadonlyMap<string, string | undefined>

const PREFIX = 'namespace_'

/** What is longer shares its internal schema with others, and what ends so may be one. */
const PLAIN = /^(?!.*_internal$).{1,54}$/

/**
 * The schema of the resources of a namespace. No other namespace has it as one of its two: names have no underscores, and
 * those that are shortened have another prefix.
 */
export function schemaOf(name: string): string {
  const plain = PREFIX + name.replaceAll('-', '_')
  if (PLAIN.test(plain)) return plain
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 16)
  return `namespaces_${plain.slice(PREFIX.length, 36)}_${hash}`
}

/** The address of the schema of a namespace. */
export function addressOf(name: string, server: string): string {
  const url = new URL(server)
  url.searchParams.set('schema', schemaOf(name))
  return url.href
}

/** The table is beside the internal tables of DATABASE_URL. */
function tableOf(schema: string | undefined): string {
  return `${escapeIdentifier(internalSchema(schema))}.namespaces`
}

/** @param schema that of DATABASE_URL */
export async function readRegistry(send: Send, schema: string | undefined): Promise<Registry> {
  const table = tableOf(schema)
  const [found] = await send('SELECT WHERE to_regclass($1) IS NOT NULL', [table])
  const rows = found ? await send(`SELECT name, address FROM ${table} ORDER BY name`, []) : []
  return new Map(
    (rows as { name: string; address: string | null }[]).map((row) => [row.name, row.address ?? undefined]),
  )
}

/** The addresses from which a service is to serve them: where an engine keeps them on one of its nodes, that of the node. */
export async function readServed(send: Send, schema: string | undefined, server: string): Promise<Registry> {
  const [registry, nodes] = [await readRegistry(send, schema), await nodesOf(send)]
  const entries = [...registry].map(([name, address]) => {
    const node = address === undefined ? nodes.get(schemaOf(name)) : undefined
    return [name, node ? Object.assign(new URL(server), node).href : address] as const
  })
  return new Map(entries)
}

/** Adds a namespace, or changes its address. The first one creates the table. */
export async function register(
  send: Send,
  schema: string | undefined,
  name: string,
  address: string | undefined,
): Promise<void> {
  const table = tableOf(schema)
  await send(
    `CREATE TABLE IF NOT EXISTS ${table} (name text PRIMARY KEY, address text, created_date timestamptz NOT NULL DEFAULT now())`,
    [],
  )
  await send(
    `INSERT INTO ${table} (name, address) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET address = excluded.address`,
    [name, address ?? null],
  )
}

/** Drops the schemas of a namespace with all its rows, where they are. */
export async function dropSchemas(send: Send, name: string): Promise<void> {
  for (const schema of [schemaOf(name), internalSchema(schemaOf(name))])
    await send(`DROP SCHEMA IF EXISTS ${escapeIdentifier(schema)} CASCADE`, [])
}

export async function unregister(send: Send, schema: string | undefined, name: string): Promise<void> {
  await send(`DELETE FROM ${tableOf(schema)} WHERE name = $1`, [name])
}
