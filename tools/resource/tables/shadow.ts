import { readFile } from 'node:fs/promises'
import { PGlite, type Transaction } from '@electric-sql/pglite'
import { escapeIdentifier as quoted } from 'pg'
import { EXTENSIONS } from '../../../src/database/embedded/durability.ts'
import type { Migration } from '../../../src/database/migrations/migration-files.ts'
import { CommandError } from '../../../src/service/command.ts'
import { ENGINE } from '../location.ts'
import { describeBaseline } from './baseline.ts'
import { type Catalogue, readCatalogue } from './catalogue.ts'
import { addColumn, addConstraint, createTable } from './statements.ts'
import type { Table } from './table.ts'

const SCHEMA = 'public'

/** The schema of the tables of the definitions. They are created only to read how PostgreSQL describes them. */
const DESIRED = 'desired'

/**
 * Runs `work` on a database in memory with the migrations of a domain and without rows, then rolls everything back.
 *
 * @param engine a database to reuse; by default, a new one
 */
export async function withShadow<Result>(
  migrations: readonly Pick<Migration, 'name' | 'sql'>[],
  work: (shadow: Shadow) => Promise<Result>,
  engine?: PGlite,
): Promise<Result> {
  const used = engine ?? (await PGlite.create({ extensions: EXTENSIONS }))
  try {
    return (await used.transaction(async (session) => {
      const shadow = new Shadow(session)
      for (const { name, sql } of migrations) await shadow.apply(sql, name)
      const result = await work(shadow)
      await session.rollback()
      return result
    })) as Result
  } finally {
    if (!engine) await used.close()
  }
}

/** See {@link withShadow}. */
export class Shadow {
  constructor(private readonly session: Transaction) {}

  /**
   * Executes the statements of a migration.
   *
   * @throws {CommandError} if PostgreSQL refuses them
   */
  async apply(sql: string, name = 'the new migration'): Promise<void> {
    try {
      await this.session.exec(sql)
    } catch (cause) {
      throw new CommandError(`PostgreSQL refuses ${name}: ${(cause as Error).message}`, { cause })
    }
  }

  current(): Promise<Catalogue> {
    return readCatalogue(this.session, SCHEMA)
  }

  /** See {@link describeBaseline}. */
  baseline(migrations: readonly Migration[]): Promise<string> {
    return describeBaseline(this.session, migrations)
  }

  /** The tables of the definitions, read in the same way. Does not change the database. */
  async desired(tables: readonly Table[]): Promise<Catalogue> {
    const session = this.session
    await session.exec(
      `SAVEPOINT before; CREATE SCHEMA ${DESIRED}; SET LOCAL search_path = ${DESIRED}, ${SCHEMA}`,
    )
    for (const table of tables) await this.#refuseExpressions(table)
    const foreignKeys = tables.flatMap(({ name, foreignKeys }) =>
      foreignKeys.map((key) => addConstraint(name, key)),
    )
    const statements = [...tables.flatMap(createTable), ...foreignKeys].join(';\n')
    await this.apply(statements, 'the tables of the definitions')
    const catalogue = await readCatalogue(session, DESIRED)
    await session.exec('ROLLBACK TO SAVEPOINT before')
    return catalogue
  }

  /** PostgreSQL does not say which expression it refuses, so each is tried alone. */
  async #refuseExpressions({ name, columns, resource }: Table): Promise<void> {
    const computed = columns.filter(({ generated }) => generated !== undefined)
    if (computed.length === 0) return
    const plain = columns.filter(({ generated }) => generated === undefined)
    const types = plain.map((column) => `${quoted(column.name)} ${column.type}`)
    await this.session.exec(`SAVEPOINT expressions; CREATE TABLE ${quoted(name)} (${types.join(', ')})`)
    for (const column of computed)
      await this.apply(addColumn(name, column), `${resource.path}.${column.name}`)
    await this.session.exec('ROLLBACK TO SAVEPOINT expressions')
  }

  /** The functions written by hand that contain this word. */
  async functionsNaming(word: string): Promise<string[]> {
    const files = [ENGINE.migration, ...Object.values(ENGINE.additions)]
    const engine = (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('\n')
    const { rows } = await this.session.query<{ name: string }>(
      `SELECT proname AS name FROM pg_proc
       WHERE pronamespace = $1::regnamespace AND prosrc ~ ('\\m' || $2 || '\\M') ORDER BY 1`,
      [SCHEMA, word],
    )
    return rows.map(({ name }) => name).filter((name) => !engine.includes(`FUNCTION ${name}(`))
  }
}
