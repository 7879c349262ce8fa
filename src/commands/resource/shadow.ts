import { readFile } from 'node:fs/promises'
import { PGlite } from '@electric-sql/pglite'
import type { Migration } from '../../database/migrations/migration-files.ts'
import { CommandError } from '../command.ts'
import { type Catalogue, readCatalogue } from './catalogue.ts'
import { ENGINE } from './location.ts'
import { addConstraint, createTable } from './statements.ts'
import type { Table } from './table.ts'

const SCHEMA = 'public'

/** The schema of the tables that the definitions describe, which are created only to be read. */
const DESIRED = 'desired'

/** A database in memory with the migrations of a domain, for comparison. It has no rows. */
export class Shadow {
  readonly #engine: PGlite

  private constructor(engine: PGlite) {
    this.#engine = engine
  }

  /** Creates the database and applies the migrations. */
  static async create(migrations: readonly Pick<Migration, 'name' | 'sql'>[]): Promise<Shadow> {
    const shadow = new Shadow(await PGlite.create())
    for (const { name, sql } of migrations) await shadow.apply(sql, name)
    return shadow
  }

  /**
   * Executes the statements of a migration in one transaction.
   *
   * @throws {CommandError} if PostgreSQL refuses them
   */
  async apply(sql: string, name = 'the new migration'): Promise<void> {
    try {
      await this.#engine.transaction((session) => session.exec(sql))
    } catch (cause) {
      throw new CommandError(`PostgreSQL refuses ${name}: ${(cause as Error).message}`, { cause })
    }
  }

  /** The tables as the migrations made them. */
  current(): Promise<Catalogue> {
    return readCatalogue(this.#engine, SCHEMA)
  }

  /** The tables that the definitions describe, read in the same way; the database stays as it is. */
  async desired(tables: readonly Table[]): Promise<Catalogue> {
    let catalogue: Catalogue = new Map()
    await this.#engine.transaction(async (session) => {
      await session.exec(`CREATE SCHEMA ${DESIRED}; SET LOCAL search_path = ${DESIRED}, ${SCHEMA}`)
      for (const statement of tables.flatMap(createTable)) await session.exec(statement)
      for (const { name, foreignKeys } of tables) {
        for (const key of foreignKeys) await session.exec(addConstraint(name, key))
      }
      catalogue = await readCatalogue(session, DESIRED)
      await session.rollback()
    })
    return catalogue
  }

  /** The functions written by hand whose text has this word. */
  async functionsNaming(word: string): Promise<string[]> {
    const engine = await readFile(ENGINE.migration, 'utf8')
    const { rows } = await this.#engine.query<{ name: string }>(
      `SELECT proname AS name FROM pg_proc
       WHERE pronamespace = $1::regnamespace AND prosrc ~ ('\\m' || $2 || '\\M') ORDER BY 1`,
      [SCHEMA, word],
    )
    return rows.map(({ name }) => name).filter((name) => !engine.includes(`FUNCTION ${name}(`))
  }

  close(): Promise<void> {
    return this.#engine.close()
  }
}
