import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Client, type ClientBase, DatabaseError } from 'pg'
import { DatabaseRefusedError, parseConnection } from '../database/connection.ts'
import { sessionStatement } from '../database/session.ts'
import { inWords, singularOf } from '../model/definition/labels.ts'
import { RESERVED_PATH } from '../model/problems/definition-problems.ts'
import { ArgumentsError, CommandError, runCommand } from '../service/command.ts'
import { type AdoptedTable, adoptTable } from './adopt/adopted-table.ts'
import { measure, OWN_TABLES, readTables, type Table } from './adopt/catalogue.ts'
import { copyRows } from './adopt/copy.ts'
import { definitionModule, indexModule, report } from './adopt/definitions.ts'
import { inOrder } from './adopt/order.ts'
import { wireName } from './adopt/typescript.ts'

const usage = `Makes a domain of the tables of an existing PostgreSQL database, and copies their rows.

  npx halgraph adopt postgresql://user:password@host:5432/name --into folder
  npx halgraph adopt postgresql://user:password@host:5432/name --copy

Without --copy, writes a definition for each table, index.ts, adopted.json, and ADOPTED.md, which says what has another
name and what has no counterpart. Correct the definitions, and run npx halgraph resource migrate. With --copy, copies the
rows into the database of the settings by the expressions of adopted.json in DOMAIN, as import --as-recorded does: again
after an interruption, it goes on. Refused rows are in adopted/COLLECTION.errors.ndjson, with their numbers in the order
of the identifiers. Nothing is written to the other database.

  --into    the folder of the domain (.)
  --schema  the schema with the tables (public)
  --replace replace files that exist`

const options = {
  copy: { type: 'boolean', default: false },
  into: { type: 'string', default: '.' },
  schema: { type: 'string', default: 'public' },
  replace: { type: 'boolean', default: false },
} as const

await runCommand(usage, { allowPositionals: true, options }, async ({ values, positionals }) => {
  const [address, ...others] = positionals
  if (address === undefined || others.length > 0) throw new ArgumentsError('Pass the address of one database')
  const { copy, into, schema, replace } = values as Record<'into' | 'schema', string> & {
    copy: boolean
    replace: boolean
  }
  await reading(address, (client) =>
    copy ? copyRows(client, schema) : writeDomain(client, schema, { folder: resolve(into), replace }),
  )
})

/** Reads one snapshot, and writes nothing. */
async function reading(address: string, work: (client: ClientBase) => Promise<void>): Promise<void> {
  const client = new Client(parseConnection(address))
  try {
    await client.connect()
    await client.query(sessionStatement())
    await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await work(client)
  } catch (cause) {
    const isOfDatabase = cause instanceof DatabaseError || 'syscall' in (cause as object)
    if (!isOfDatabase) throw cause
    throw new DatabaseRefusedError(`The database to adopt refuses: ${(cause as Error).message}`, { cause })
  } finally {
    await client.end()
  }
}

async function writeDomain(
  client: ClientBase,
  schema: string,
  { folder, replace }: { readonly folder: string; readonly replace: boolean },
): Promise<void> {
  const left = new Map<string, string>()
  const tables = (await readTables(client, schema)).filter((table) => isAdopted(table, left))
  if (tables.length === 0) throw new CommandError(`There are no tables to adopt in the schema ${schema}`)
  const resources = nameResources(tables)
  const adopted: AdoptedTable[] = []
  for (const table of tables) {
    const place = `${client.escapeIdentifier(schema)}.${client.escapeIdentifier(table.name)}`
    const measures = await measure(client, place, table.columns)
    adopted.push(adoptTable(table, resources, measures))
  }
  const ordered = inOrder(adopted)
  const { rows } = await client.query<{ name: string }>('SELECT current_database() AS name')
  const copied = ordered.map(({ path, table, columns }) => ({ path, table, columns }))
  const files = new Map([
    ...ordered.map((one) => [`${one.path}.ts`, definitionModule(one)] as const),
    ['index.ts', indexModule(inWords(wireName(rows[0]?.name ?? schema)), ordered)],
    ['adopted.json', `${JSON.stringify(copied, null, 2)}\n`],
    ['ADOPTED.md', report(ordered, left)],
  ])
  const existing = [...files.keys()].filter((name) => existsSync(join(folder, name)))
  if (existing.length > 0 && !replace)
    throw new CommandError(`${existing.join(', ')} exist in ${folder}; pass --replace to write them again`)
  await mkdir(folder, { recursive: true })
  for (const [name, text] of files) await writeFile(join(folder, name), text)
  const remarks = ordered.reduce((sum, one) => sum + one.remarks.length, 0)
  console.log(`Wrote ${ordered.length} collections to ${folder}; ADOPTED.md has ${remarks} remarks
and ${left.size} tables that are left out.`)
}

/** @param left gets the tables that are not adopted, with the reason */
function isAdopted({ name, columns, constraints }: Table, left: Map<string, string>): boolean {
  const key = constraints.find(({ kind }) => kind === 'p')
  const others = columns.filter((column) => !key?.columns.includes(column.name))
  if (OWN_TABLES.test(name)) left.set(name, 'a table of another tool')
  else if (!key) left.set(name, 'it has no primary key')
  else if (others.length === 0 && key.columns.length === 1) left.set(name, 'it has nothing but its key')
  return !left.has(name)
}

/** Paths and names of all tables, each of which differs from the others. */
function nameResources(tables: readonly Table[]) {
  const taken = new Set<string>()
  const free = (text: string, addition: string): string => {
    const isTaken = taken.has(text) || RESERVED_PATH.test(text)
    const result = isTaken ? free(text + addition, addition) : text
    taken.add(result)
    return result
  }
  return new Map(
    tables.map(({ name, constraints }) => {
      const path = free(wireName(name).replaceAll('_', '-'), '-rows')
      const key = constraints.find(({ kind }) => kind === 'p')?.columns ?? []
      return [name, { path, name: free(singularOf(path), 'Row'), key }]
    }),
  )
}
