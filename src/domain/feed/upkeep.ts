import type { Client } from '../../database/client.ts'

const DAY_MILLISECONDS = 86_400_000
const HOUR_MILLISECONDS = 3_600_000

/** How long changes stay without a position if they are not read. */
const NUMBERING_MILLISECONDS = 10_000

/** A statement that numbers or deletes this many changes ends long before its timeout. */
const BATCH_SIZE = 1_000

/**
 * Keeps a record of changes for this many days from now on; 0: of none.
 *
 * @returns whether changes are recorded: not without the migration of the record, which a domain may still lack
 */
export async function keepChanges(client: Client, days: number): Promise<boolean> {
  const exists = "SELECT WHERE to_regprocedure('keep_changes(integer)') IS NOT NULL"
  if ((await client.$rows({ text: exists, values: [] })).length === 0) return false
  await client.$rows({ text: 'SELECT keep_changes($1)::text AS kept', values: [days] })
  return days > 0
}

/** Gives positions to the changes that were committed and have none; resolves to their number. */
export async function numberChanges(client: Client): Promise<number> {
  let numbered = 0
  let count: number
  do {
    count = await countOf(client, 'SELECT number_changes($1) AS count', [BATCH_SIZE])
    numbered += count
  } while (count === BATCH_SIZE)
  return numbered
}

interface Feed {
  readonly source: { readonly client: Client; readonly changesDays: number }
  /** Numbers the changes. */
  refresh(): Promise<void>
}

/**
 * Numbers recorded changes every ten seconds, and every hour deletes those older than this many days, until the result
 * is called. The first delay is random, so that processes that start together do not run at the same time.
 */
export function startChangeUpkeep(feed: Feed, within = NUMBERING_MILLISECONDS): () => void {
  const { client, changesDays } = feed.source
  const stopping = new AbortController()
  const { signal } = stopping
  let purgedAt = Number.NEGATIVE_INFINITY
  let isRunning = false
  const run = async () => {
    if (isRunning) return
    isRunning = true
    try {
      await feed.refresh()
      if (performance.now() - purgedAt < HOUR_MILLISECONDS) return
      purgedAt = performance.now()
      while (!signal.aborted && (await purgeChanges(client, changesDays)));
    } catch {
      // The next run does it.
    } finally {
      isRunning = false
    }
  }
  const timers = [setTimeout(run, Math.random() * within), setInterval(run, NUMBERING_MILLISECONDS)]
  for (const timer of timers) timer.unref()
  return () => {
    stopping.abort()
    for (const timer of timers) clearTimeout(timer)
  }
}

/** Deletes a batch of the changes that are older than this many days; resolves to whether there may be more. */
async function purgeChanges(client: Client, days: number): Promise<boolean> {
  const before = new Date(Date.now() - days * DAY_MILLISECONDS).toISOString()
  const text = 'SELECT purge_changes($1::timestamptz, $2) AS count'
  return (await countOf(client, text, [before, BATCH_SIZE])) === BATCH_SIZE
}

async function countOf(client: Client, text: string, values: readonly unknown[]): Promise<number> {
  const [row] = await client.$rows<{ count: number }>({ text, values })
  return row?.count ?? 0
}
