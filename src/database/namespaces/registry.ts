import { createHash } from 'node:crypto'
import { escapeIdentifier } from 'pg'
import { internalSchema } from '../session.ts'
import { nodesOf, type Send } from './citus.ts'

/** Where a namespace is. */
export interface Place {
  /** The schema of its resources. */
  readonly schema: string
  /** The address of its server; undefined: that of DATABASE_URL. */
  readonly address: string | undefined
}

/** The namespaces that were created, by name. */
export type Registry = ReadonlyMap<string, Place>

const PREFIX = 'namespace_'

/** What is longer shares its internal schema with others, and what ends so may be one. */
const PLAIN = /^(?!.*_internal$).{1,54}$/

/** The schema of every namespace whose row in the registry names none, as those of before the column `schema`. */
const plainSchema = (name: string) => PREFIX + name.replaceAll('-', '_')

/**
 * The schema of a new namespace. No other namespace has it as one of its two: names have no underscores, and those that are
 * shortened have another prefix.
 */
export function schemaOf(name: string): string {
  const plain = plainSchema(name)
  if (PLAIN.test(plain)) return plain
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 16)
  return `namespaces_${plain.slice(PREFIX.length, 36)}_${hash}`
}

/** The address of the schema of a namespace. `server` is that of DATABASE_URL. */
export function addressOf({ schema, address }: Place, server: string): string {
  const url = new URL(address ?? server)
  url.searchParams.set('schema', schema)
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
  const rows = found ? await send(`SELECT * FROM ${table} ORDER BY name`, []) : []
  return new Map(
    (rows as { name: string; address: string | null; schema?: string | null }[]).map(
      ({ name, address, schema }) => [
        name,
        { schema: schema ?? plainSchema(name), address: address ?? undefined },
      ],
    ),
  )
}

/** The places from which a service is to serve them: where an engine keeps them on one of its nodes, at that node. */
export async function readServed(send: Send, schema: string | undefined, server: string): Promise<Registry> {
  const [registry, nodes] = [await readRegistry(send, schema), await nodesOf(send)]
  const entries = [...registry].map(([name, place]) => {
    const node = place.address === undefined ? nodes.get(place.schema) : undefined
    return [name, node ? { ...place, address: Object.assign(new URL(server), node).href } : place] as const
  })
  return new Map(entries)
}

/** Adds a namespace, or changes its address; its schema stays. The first one creates the table. */
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
  await send(`ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS schema text`, [])
  await send(
    `INSERT INTO ${table} (name, address, schema) VALUES ($1, $2, $3)
     ON CONFLICT (name) DO UPDATE SET address = excluded.address`,
    [name, address ?? null, schemaOf(name)],
  )
}

/** Drops the schemas of a namespace with all its rows, where they are. */
export async function dropSchemas(send: Send, { schema }: Place): Promise<void> {
  for (const one of [schema, internalSchema(schema)])
    await send(`DROP SCHEMA IF EXISTS ${escapeIdentifier(one)} CASCADE`, [])
}

export async function unregister(send: Send, schema: string | undefined, name: string): Promise<void> {
  await send(`DELETE FROM ${tableOf(schema)} WHERE name = $1`, [name])
}
