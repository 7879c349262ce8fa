import type { StatementClient } from '../../../database/database-client.ts'
import { exactColumns } from '../../../database/sql/statement.ts'
import { allows, authorize, type Caller, lackOf } from '../../../model/caller.ts'
import { DomainError, errorAt } from '../../../model/errors.ts'
import type { Resource } from '../../../model/resource.ts'
import { POSITIONS_OF_TIMELINE, toCursor, toPosition } from './position.ts'
import { type ChangeRow, type RecordedChange, toChange } from './recorded-change.ts'
import { numberChanges } from './upkeep.ts'

export interface ChangePage {
  readonly changes: readonly RecordedChange[]
  /** The position to continue from, also at the end of the feed. */
  readonly next: string
  readonly hasMore: boolean
}

export interface ChangeRequest {
  readonly resources: readonly Resource[]
  /** A cursor, `now` for the end of the feed, or undefined for the oldest change that is kept. */
  readonly since: string | undefined
  readonly limit: number
}

/** What changes are read from. */
export interface Source<Client = StatementClient> {
  readonly client: Client
  /** How long changes are recorded; 0 for no record. */
  readonly changesDays: number
}

export const NOW = 'now'

/** The limit of one statement, so that a request for rare changes does not scan the whole feed. */
const SCANNED_POSITIONS = 1_000

/**
 * Reads recorded changes after a position, in the order that all readers see. Assigns positions to new changes, so the client
 * must be that of the primary. Following `next` leads to each change exactly once.
 *
 * @throws {DomainError} RESOURCE_GONE (410) if changes after the position were purged, or changes before it were lost in a
 *   failover or a restore, or it is of another database;
 *   INVALID_QUERY_PARAMETER (400) for an invalid cursor; RESOURCE_NOT_FOUND (404) if changes are not recorded
 */
export async function readChanges(
  { client, changesDays }: Source,
  request: ChangeRequest,
): Promise<ChangePage> {
  const { since } = request
  if (changesDays === 0) throw new DomainError('RESOURCE_NOT_FOUND', 'The service does not record changes.')
  const after = since === NOW ? Number.MAX_SAFE_INTEGER : since === undefined ? 0 : toPosition(since)
  // Before the page is read, since otherwise it could lack changes that another process numbers.
  await numberChanges(client)
  const { rows, reached, purged, last, isGone, hasMore } = await readPart(client, request, after)
  if (since === NOW) return { changes: [], next: toCursor(last), hasMore: false }
  if (since !== undefined && isGone) {
    const message =
      'Changes after this position are no longer kept, or changes before it were lost when the database was restored. ' +
      'Read the lists again and continue from there.'
    throw new DomainError('RESOURCE_GONE', message)
  }
  return {
    changes: rows.map((row) => toChange(request.resources, row)),
    next: toCursor(Math.max(after, reached, since === undefined ? purged : 0)),
    hasMore,
  }
}

export async function readEnd({ client }: Source): Promise<number> {
  const text = 'SELECT last_position::float8 AS last FROM change_feed'
  const [feed] = (await client.$rows({ text, values: [] })) as [{ last: number }]
  return feed.last
}

/** Whether {@link readChanges} would return changes or fail, and otherwise how far the feed was searched. */
export async function hasChanges(
  { client }: Source,
  request: ChangeRequest,
): Promise<{ isThere: boolean; reached: string | undefined }> {
  const { since } = request
  if (since === undefined || since === NOW) return { isThere: true, reached: since }
  const after = toPosition(since)
  const { rows, reached, isGone, hasMore } = await readPart(client, { ...request, limit: 1 }, after)
  return { isThere: rows.length > 0 || hasMore || isGone, reached: toCursor(Math.max(after, reached)) }
}

/**
 * The collections with these paths, or else all that the caller may read.
 *
 * @throws {DomainError} ACCESS_DENIED (403) or AUTHENTICATION_REQUIRED (401), INVALID_QUERY_PARAMETER (400) for an unknown collection
 */
export function readableCollections(
  resources: readonly Resource[],
  paths: readonly string[] | undefined,
  caller: Caller,
): readonly Resource[] {
  if (paths) {
    return [...new Set(paths)].map((path) => {
      const resource = resources.find((candidate) => candidate.path === path)
      const message = `There is no collection ${JSON.stringify(path.slice(0, 100))}.`
      if (!resource) throw errorAt('collection', 'INVALID_VALUE', 'INVALID_QUERY_PARAMETER', message)
      authorize(caller, resource, 'read')
      return resource
    })
  }
  const readable = resources.filter((resource) => allows(caller, resource, 'read'))
  if (readable.length > 0) return readable
  throw lackOf('scope to read a collection', caller)
}

interface Feed {
  readonly last: number
  readonly purged: number
  /** Whether the position belongs to changes of a former timeline that this one lacks. */
  readonly lost: boolean
  readonly reached: number | null
  readonly scanned: number
}

const TIMELINE = `${POSITIONS_OF_TIMELINE}::bigint`

/** A row of a mass deletion is read as one row for each child. */
const READ = `
  WITH scanned AS (SELECT position FROM recorded_changes WHERE position > $1 ORDER BY position LIMIT $4)
  SELECT feed.last_position::float8 AS last, feed.purged_position::float8 AS purged,
    $1 / ${TIMELINE} < feed.last_position / ${TIMELINE} AND $1 > GREATEST(feed.purged_position, (
      SELECT max(position) FROM recorded_changes WHERE position < ($1 / ${TIMELINE} + 1) * ${TIMELINE})) AS lost,
    (SELECT max(position) FROM scanned)::float8 AS reached, (SELECT count(*) FROM scanned)::int AS scanned,
    change.position::float8 AS position, change.collection, change.parent_id, change.id, change.version, change.event,
    change.changed_date, change.changed_by, change.columns,
    (SELECT jsonb_object_agg(key, value #>> '{}') FROM jsonb_each(change.columns) WHERE key = ANY($5)) AS exact
  FROM change_feed AS feed LEFT JOIN LATERAL (
    SELECT one.position - COALESCE(cardinality(ids) - place, 0) AS position, one.collection, one.parent_id,
      COALESCE(child.id, one.id) AS id, COALESCE(child.version, one.version) AS version, one.event, one.changed_date,
      one.changed_by, CASE WHEN one.event <> 'deleted' THEN one.resource END AS columns
    FROM recorded_changes AS one
    LEFT JOIN LATERAL unnest(ids, versions) WITH ORDINALITY AS child (id, version, place) ON TRUE
    WHERE one.position > $1 AND one.position <= (SELECT max(position) FROM scanned) AND one.collection = ANY($2)
      AND one.position - COALESCE(cardinality(ids) - place, 0) > $1
    ORDER BY 1 LIMIT $3
  ) AS change ON TRUE ORDER BY change.position`

async function readPart(client: StatementClient, { resources, limit }: ChangeRequest, after: number) {
  const paths = resources.map(({ path }) => path)
  const values = [after, paths, limit + 1, SCANNED_POSITIONS, resources.flatMap(exactColumns)]
  const found = await client.$rows<ChangeRow & Feed>({ text: READ, values })
  const [feed] = found as [ChangeRow & Feed]
  const rows = found.filter(({ position }) => position !== null).slice(0, limit)
  const isFull = found.length > limit
  const reached = (isFull ? rows.at(-1)?.position : feed.reached) ?? 0
  const isGone = after < feed.purged || after > feed.last || feed.lost
  return { ...feed, rows, reached, isGone, hasMore: isFull || feed.scanned === SCANNED_POSITIONS }
}
