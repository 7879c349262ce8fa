import type { PGlite } from '@electric-sql/pglite'
import { escapeLiteral } from 'pg'

/** The database underneath, as far as sessions need it. */
type Engine = Pick<PGlite, 'exec' | 'query'>

/** A setting by its name, as PostgreSQL writes it. */
interface Setting {
  readonly name: string
  readonly setting: string
}

/** What a session has set, from when it last had the engine. */
interface Session {
  settings: readonly Setting[]
}

/** The role comes last: what a session set as another one, it might not be allowed to set again. */
const SAVE = `SELECT name, setting FROM pg_catalog.pg_settings WHERE source = 'session'
  UNION ALL SELECT 'session_authorization', session_user
  UNION ALL SELECT 'role', pg_catalog.current_setting('role')`

/**
 * Goes back to the engine's own settings and role. SET SESSION AUTHORIZATION DEFAULT would do nothing here:
 * the engine starts without a log-in that it could go back to.
 */
export const RESET_SESSION = 'SET ROLE NONE; SET SESSION AUTHORIZATION postgres; RESET ALL'

/**
 * Gives each client of the embedded database settings and a role of its own, although the engine has one
 * session for all of them: they are put away when another client has its turn and put back for the next.
 * The connections of the service, which all have the same settings, count as one client, so that between
 * them nothing is to be done. Temporary tables, prepared statements with a name, advisory locks and LISTEN
 * are shared by the other clients, and discarded when the last of those has gone.
 */
export class EmbeddedSessions {
  readonly #engine: Engine
  readonly #service: Session = { settings: [] }
  readonly #sessions = new Map<number, Session>()
  #current: Session | undefined
  #isLeftOver = false

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** A client has connected. */
  open(connection: number, isService: boolean): void {
    this.#sessions.set(connection, isService ? this.#service : { settings: [] })
  }

  /** A client has gone, and with it its settings. */
  close(connection: number): void {
    const session = this.#sessions.get(connection)
    this.#sessions.delete(connection)
    if (session === undefined || session === this.#service) return
    if (session === this.#current) this.#current = undefined
    this.#isLeftOver ||= [...this.#sessions.values()].every((other) => other === this.#service)
  }

  /**
   * Makes the session of a client that of the engine, which must not be in a transaction. Rejects when it
   * cannot be had any more, for instance because its role has been dropped.
   */
  async enter(connection: number): Promise<void> {
    const next = this.#sessions.get(connection)
    if (next === undefined) throw new Error('a client must start up first')
    if (next === this.#current && !this.#isLeftOver) return
    if (this.#current) this.#current.settings = (await this.#engine.query<Setting>(SAVE)).rows
    // Until all is done it is no client's: should a step fail, the next one starts from here.
    this.#current = undefined
    const isLeftOver = this.#isLeftOver
    this.#isLeftOver = false
    if (isLeftOver) await this.#engine.exec('DISCARD ALL')
    await this.#engine.exec([RESET_SESSION, ...next.settings.map(toStatement)].join(';'))
    this.#current = next
  }
}

function toStatement({ name, setting }: Setting): string {
  return `SELECT pg_catalog.set_config(${escapeLiteral(name)}, ${escapeLiteral(setting)}, false)`
}
