import type { StatementClient } from '../../../database/database-client.ts'
import { BATCH_SIZE, repeat } from '../../../domain/repeat.ts'

const DAY_MILLISECONDS = 86_400_000
const HOUR_MILLISECONDS = 3_600_000

/** How long changes that are not read stay without a position. */
const NUMBERING_MILLISECONDS = 10_000

/** Assigns positions to the committed changes that have none, unless commits wait for a standby. */
export async function numberChanges(client: StatementClient): Promise<void> {
  while (await isFullBatch(client, 'SELECT number_changes($1) AS count', [BATCH_SIZE]));
}

interface Feed {
  readonly source: { readonly client: StatementClient; readonly changesDays: number }
  refresh(): Promise<void>
}

/**
 * Numbers recorded changes every ten seconds, and deletes expired ones every hour, until the result is called.
 */
export function startFeedUpkeep(feed: Feed, within = NUMBERING_MILLISECONDS): () => void {
  const { client, changesDays } = feed.source
  let purgedAt = Number.NEGATIVE_INFINITY
  const upkeep = async (stopped: AbortSignal) => {
    await feed.refresh()
    if (performance.now() - purgedAt < HOUR_MILLISECONDS) return
    purgedAt = performance.now()
    const text = 'SELECT purge_changes($1::timestamptz, $2) AS count'
    const before = new Date(Date.now() - changesDays * DAY_MILLISECONDS).toISOString()
    while (!stopped.aborted && (await isFullBatch(client, text, [before, BATCH_SIZE])));
  }
  return repeat(upkeep, NUMBERING_MILLISECONDS, within)
}

/** Whether the batch was full, so that there may be more. */
async function isFullBatch(
  client: StatementClient,
  text: string,
  values: readonly unknown[],
): Promise<boolean> {
  const [row] = await client.$rows<{ count: number }>({ text, values, isDeferrable: true })
  return row?.count === BATCH_SIZE
}
