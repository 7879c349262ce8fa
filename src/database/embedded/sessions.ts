import type { PGlite } from '@electric-sql/pglite'

/** The statements that restore the settings of a session when it last used the engine. */
interface Session {
  settings: readonly { readonly statement: string }[]
}

/** The role comes last, because it might not be allowed to change the other settings. */
const SAVE = `SELECT pg_catalog.format('SELECT pg_catalog.set_config(%L, %L, false)', name, setting) AS statement
  FROM (SELECT name, setting FROM pg_catalog.pg_settings WHERE source = 'session'
    UNION ALL SELECT 'session_authorization', session_user
    UNION ALL SELECT 'role', pg_catalog.current_setting('role')) AS settings`

/**
 * Restores the engine's settings and role. SET SESSION AUTHORIZATION DEFAULT has no effect, because the engine
 * starts without a login role.
 */
export const RESET_SESSION = 'SET ROLE NONE; SET SESSION AUTHORIZATION postgres; RESET ALL'

/**
 * Gives each client its own settings and role, although the engine has one session: saves and restores them when the
 * client changes. The connections of the service count as one client. The other clients share temporary tables,
 * named prepared statements, advisory locks and LISTEN, which are discarded when the last of them disconnects.
 */
export class EmbeddedSessions {
  readonly #service: Session = { settings: [] }
  readonly #sessions = new Map<number, Session>()
  #current: Session | undefined
  #isLeftOver = false

  constructor(readonly engine: PGlite) {}

  open(connection: number, isService: boolean): void {
    this.#sessions.set(connection, isService ? this.#service : { settings: [] })
  }

  /** Whether a client is the service or one of its commands. */
  isService(connection: number): boolean {
    return this.#sessions.get(connection) === this.#service
  }

  close(connection: number): void {
    const session = this.#sessions.get(connection)
    this.#sessions.delete(connection)
    if (session === undefined || session === this.#service) return
    if (session === this.#current) this.#current = undefined
    this.#isLeftOver ||= [...this.#sessions.values()].every((other) => other === this.#service)
  }

  /** Restores the session of a client. Rejects in a transaction, and if its role has been dropped, for instance. */
  async enter(connection: number): Promise<void> {
    const next = this.#sessions.get(connection)
    if (next === undefined) throw new Error('a client must start up first')
    if (next === this.#current && !this.#isLeftOver) return
    if (this.#current)
      this.#current.settings = (await this.engine.query<Session['settings'][number]>(SAVE)).rows
    // If a step fails, the engine belongs to no client, and the next call starts here.
    this.#current = undefined
    const isLeftOver = this.#isLeftOver
    this.#isLeftOver = false
    if (isLeftOver) await this.engine.exec('DISCARD ALL')
    await this.engine.exec([RESET_SESSION, ...next.settings.map(({ statement }) => statement)].join(';'))
    this.#current = next
  }
}
