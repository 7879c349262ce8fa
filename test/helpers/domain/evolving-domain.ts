import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import type { ExecutionContext } from 'ava'
import { Client } from 'pg'
import { EXTENSIONS } from '../../../src/database/embedded/durability.ts'
import { migrate } from '../../../src/database/migrations/migrator.ts'
import { sessionStatement } from '../../../src/database/session.ts'
import type { ApiVersion } from '../../../src/model/definition/domain.ts'
import type { Resource } from '../../../src/model/definition/resource.ts'
import { parseDefaults } from '../../../tools/resource/defaults.ts'
import { planUpdate, type Update, writeUpdate } from '../../../tools/resource/migrate.ts'
import { createEmptyDatabase, createTestFolder } from '../database/database.ts'

interface Options {
  readonly defaults?: readonly string[]
  readonly allowDataLoss?: boolean
  readonly allowInvalidRows?: boolean
  readonly versions?: readonly ApiVersion[]
  /** A part of the engine that is left out, as in a domain of a former version. */
  readonly without?: readonly string[]
}

/** A domain in a folder of its own, with a database, whose definitions change during a test. */
export interface EvolvingDomain {
  readonly folder: string
  /** What a change of the definitions would write. */
  plan(resources: readonly Resource[], options?: Options): Promise<Update>
  /** Changes the definitions, writes the migration and applies it; resolves to its explanation. */
  become(resources: readonly Resource[], options?: Options): Promise<string>
  query(sql: string): Promise<Record<string, unknown>[]>
  /** The Prisma schema. */
  schema(): Promise<string>
}

/** The tables as a version made them that had no authors in rows. */
function withoutAuthors(sql: string): string {
  return sql.replaceAll(/,\n {2}"changed_by" TEXT COLLATE "C"/g, '')
}

/** Starting one takes seconds, so that all domains of a process share it. */
let engine: Promise<PGlite> | undefined

/** On the PostgreSQL server of TEST_DATABASE_URL, else embedded. */
export async function createEvolvingDomain(t: ExecutionContext): Promise<EvolvingDomain> {
  const folder = await createTestFolder(t)
  const files = { schema: join(folder, 'schema.prisma'), migrations: join(folder, 'migrations') }
  const connection = await createEmptyDatabase(t)
  const client = new Client(connection)
  await client.connect()
  t.teardown(() => client.end())
  await client.query(sessionStatement())
  const plan = async (resources: readonly Resource[], options: Options = {}) => {
    const defaults = parseDefaults(options.defaults ?? [], resources)
    const { allowDataLoss = false, allowInvalidRows = false } = options
    const decisions = { defaults, allowDataLoss, allowInvalidRows }
    engine ??= PGlite.create({ extensions: EXTENSIONS })
    const count = async (query: string) => (await client.query(query)).rows[0].count
    return planUpdate(resources, files, decisions, {
      engine: await engine,
      count,
      versions: options.versions,
    })
  }
  return {
    folder,
    plan,
    async become(resources, options) {
      const update = await plan(resources, options)
      const { without = [] } = options ?? {}
      const kept = [...update.files]
        .filter(([path]) => !without.some((name) => path.includes(`_${name}/`)))
        .map(
          ([path, text]) => [path, without.includes('record_authors') ? withoutAuthors(text) : text] as const,
        )
      await writeUpdate({ ...update, files: new Map(kept) })
      await migrate(connection, files.migrations)
      return update.explanation
    },
    query: async (sql) => (await client.query(sql)).rows,
    schema: () => readFile(files.schema, 'utf8'),
  }
}
