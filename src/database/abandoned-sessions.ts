import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

const INTERVAL_MILLISECONDS = 250
const RESPONSE_MILLISECONDS = 1_000

/** Of this role, also in other processes. Those that wait for something else than a commit were cancelled by then. */
const COUNT = `SELECT count(*)::int AS count FROM pg_catalog.pg_stat_activity
  WHERE datname = current_database() AND usename = current_user AND state = 'active'
    AND query_start < clock_timestamp() - $1 * interval '1 millisecond'`

/**
 * Counts sessions of the server whose connection was closed before it responded. Such a session can go on for any time:
 * a commit that waits for a synchronous standby notices neither `statement_timeout` nor the end of its connection, and
 * must not be cancelled, because others would then see what the standby lacks.
 */
export class AbandonedSessions {
  readonly #releases: (() => void)[] = []
  #isAsking = false
  /** Called for each session. Returns what to call when the server has ended it. */
  hold: () => () => void = () => () => {}

  /** @param timeout of statements, in milliseconds */
  constructor(
    private readonly pool: pg.Pool,
    private readonly timeout: number,
  ) {}

  get count(): number {
    return this.#releases.length
  }

  add(): void {
    this.#releases.push(this.hold())
    void this.#untilEnded()
  }

  async #untilEnded(): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    while (this.count > 0) {
      const before = this.count
      const running = await this.#ask()
      for (const release of this.#releases.splice(0, Math.max(before - running, 0))) release()
      await delay(INTERVAL_MILLISECONDS, undefined, { ref: false })
    }
    this.#isAsking = false
  }

  async #ask(): Promise<number> {
    // A server that does not show its sessions leaves no other choice than to forget them.
    const ignore = (error: unknown) => (error instanceof pg.DatabaseError ? 0 : Infinity)
    const answer = this.pool.query(COUNT, [this.timeout]).then(({ rows }) => rows[0].count, ignore)
    return Promise.race([answer, delay(RESPONSE_MILLISECONDS, Infinity, { ref: false })])
  }
}
