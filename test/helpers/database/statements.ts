import pg from 'pg'

/** The SQL statements that this process sent while work was done, their values, and what the work resolved to. */
export interface Counted<Result> {
  readonly result: Result
  readonly statements: readonly string[]
  readonly values: readonly (readonly unknown[])[]
}

/**
 * What the service does by itself: the first statements of a connection, a look at the sizes of the
 * tables, the deletion of expired idempotency keys and changes soon after the start, and the numbering of changes.
 */
const OWN_STATEMENT =
  /^SET |^BEGIN ISOLATION LEVEL |table_bytes|idempotency_keys|purge_changes|number_changes|^SELECT last_position::float8 AS last FROM change_feed$/

/**
 * Counts the SQL statements of work, BEGIN and COMMIT among them: all that this process sends, so that
 * nothing else may be under way.
 */
export async function countStatements<Result>(work: () => Promise<Result>): Promise<Counted<Result>> {
  const sent: { readonly text: string; readonly values: readonly unknown[] }[] = []
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [statement, given] = args as [
      string | { readonly text: string; readonly values?: unknown[] },
      unknown,
    ]
    const { text, values = [] } =
      typeof statement === 'string'
        ? { text: statement, values: Array.isArray(given) ? given : [] }
        : statement
    if (!OWN_STATEMENT.test(text)) sent.push({ text, values })
    return Reflect.apply(query, this, args)
  } as typeof query
  try {
    const result = await work()
    return { result, statements: sent.map(({ text }) => text), values: sent.map(({ values }) => values) }
  } finally {
    pg.Client.prototype.query = query
  }
}
