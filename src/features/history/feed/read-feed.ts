import type { StatementClient } from '../../../database/database-client.ts'
import { exactColumns, exactRow } from '../../../database/sql/statement.ts'
import type { Recorded, Session } from '../../../domain/session/session.ts'
import { allows, authorize, type Caller, lackOf } from '../../../model/access/caller.ts'
import type { Resource } from '../../../model/definition/resource.ts'
import { DomainError, errorAt } from '../../../model/errors.ts'
import { ReadableChanges, type ReadRequest, type StateRow } from './readable-changes.ts'
import { NOW, type Place, type RecordedChange, toChange, toCursor, toPlace } from './recorded-change.ts'
import { limitingOwner, parentState } from './states.ts'
import { numberChanges } from './upkeep.ts'

export interface FeedPage {
  readonly changes: readonly RecordedChange[]
  /** The position to continue from, also at the end of the feed. */
  readonly next: string
  readonly hasMore: boolean
}

export interface FeedRequest extends ReadRequest {
  /** A cursor, `now` for the end of the feed, or undefined for the oldest change that is kept. */
  readonly since: string | undefined
  readonly limit: number
}

/** What changes are read from. */
export interface Source {
  readonly client: StatementClient
  /** How long changes are recorded; 0 for no record. */
  readonly changesDays: number
}

/** The limit of one statement, so that a request for rare changes does not scan the whole feed. */
const SCANNED_POSITIONS = 1_000

/** Reads a page in an operation, as {@link readFeed}. Those of the same view, at the same position, share it. */
export async function readFeedFor(session: Session, request: Omit<FeedRequest, 'access'>): Promise<FeedPage> {
  const { resources, since, limit } = request
  const read = (record: Recorded) => readFeed(record, { ...request, access: record.access })
  const page = await session.recorded(resources, ['changes', since, limit], read)
  if (since === NOW) session.includeChanges()
  return page
}

/**
 * Reads recorded changes after a position, in the order that all readers see. Assigns positions to new changes, so the client
 * must be that of the primary. Following `next` leads to each change exactly once.
 *
 * @throws {DomainError} RESOURCE_GONE (410) if changes after the position were purged, or changes before it were lost in a
 *   failover or a restore, or it is of another database;
 *   INVALID_QUERY_PARAMETER (400) for an invalid cursor; RESOURCE_NOT_FOUND (404) if changes are not recorded
 */
export async function readFeed(source: Source, request: FeedRequest): Promise<FeedPage> {
  const unrecorded = 'The service does not record changes.'
  if (source.changesDays === 0) throw new DomainError('RESOURCE_NOT_FOUND', unrecorded)
  // Before the page is read, since otherwise it could lack changes that another process numbers.
  await numberChanges(source.client)
  return readNumbered(source, request)
}

/** As {@link readFeed}, the changes that have positions already. */
export async function readNumbered({ client }: Source, request: FeedRequest): Promise<FeedPage> {
  const { since } = request
  const begin = { after: since === NOW ? Number.MAX_SAFE_INTEGER : 0, parts: 0 }
  const place = since === NOW || since === undefined ? begin : toPlace(since)
  const { changes, next, purged, last, isGone, hasMore } = await readPart(client, request, place)
  if (since === NOW) return { changes: [], next: toCursor(last), hasMore: false }
  if (since !== undefined && isGone) {
    const message =
      'Changes after this position are no longer kept, or changes before it were lost when the database was restored. ' +
      'Read the lists again and continue from there.'
    throw new DomainError('RESOURCE_GONE', message)
  }
  const isBefore = since === undefined && toPlace(next).after < purged
  return { changes, next: isBefore ? toCursor(purged) : next, hasMore }
}

export async function readEnd({ client }: Source): Promise<number> {
  const text = 'SELECT last_position::float8 AS last FROM change_feed'
  const [feed] = (await client.$rows({ text, values: [] })) as [{ last: number }]
  return feed.last
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
  throw lackOf('*:read', caller, 'scope to read a collection')
}

interface Feed {
  readonly last: number
  readonly purged: number
  /** Whether the position is between two timelines (prisma/engine/tell_lives_apart.sql): of changes that this one lacks. */
  readonly lost: boolean
  readonly reached: number | null
  readonly scanned: number
}

/** Stored changes that are read at least for a caller that may not read all rows, because it may see few of them. */
const LEAST_STORED = 20

/**
 * Reads changes with the facts of the feed. A row of a mass deletion is read as one row for each child. For a view, also the
 * states that decide what it shows, from the position on from which they are recorded.
 */
function statementFor(readable: ReadableChanges | undefined): string {
  const start = readable ? 'GREATEST($1, (SELECT states_position FROM change_feed))' : '$1'
  const purged = readable ? 'GREATEST(feed.purged_position, feed.states_position)' : 'feed.purged_position'
  return `
  WITH scanned AS (SELECT position FROM recorded_changes WHERE position > ${start} ORDER BY position LIMIT $4)
  SELECT feed.last_position::float8 AS last, ${purged}::float8 AS purged,
    $1 > GREATEST(feed.purged_position, (SELECT max(position) FROM recorded_changes WHERE position <= $1))
      AND $1 < COALESCE((SELECT position - COALESCE(cardinality(ids), 1) FROM recorded_changes
        WHERE position > $1 ORDER BY position LIMIT 1), feed.last_position) AS lost,
    (SELECT max(position) FROM scanned)::float8 AS reached, (SELECT count(*) FROM scanned)::int AS scanned,
    change.position::float8 AS position, change.collection, change.parent_id, change.id, change.version, change.event,
    change.changed_date, change.changed_by, ${exactRow('change.columns', '$5')} AS columns
    ${readable ? `, ${exactRow('before', '$5')} AS before, ${exactRow('parent', '$5')} AS parent` : ''}
  FROM change_feed AS feed LEFT JOIN LATERAL (
    SELECT one.position - COALESCE(cardinality(ids) - place, 0) AS position, one.collection, one.parent_id,
      COALESCE(child.id, one.id) AS id, COALESCE(child.version, one.version) AS version, one.event, one.changed_date,
      one.changed_by, CASE WHEN one.event <> 'deleted' THEN one.resource END AS columns
      ${readable ? `, NULLIF(CASE WHEN ids IS NULL THEN one.before ELSE one.before -> (place - 1)::int END, 'null') AS before, ${parentOf(readable)} AS parent` : ''}
    FROM recorded_changes AS one
    LEFT JOIN LATERAL unnest(ids, versions) WITH ORDINALITY AS child (id, version, place) ON TRUE
    WHERE one.position > ${start} AND one.position <= (SELECT max(position) FROM scanned) AND one.collection = ANY($2)
      AND one.position - COALESCE(cardinality(ids) - place, 0) > $1
    ORDER BY 1 LIMIT $3
  ) AS change ON TRUE ORDER BY change.position`
}

function parentOf({ scanned, access }: ReadableChanges): string {
  const cases = scanned.flatMap((resource) => {
    const owner = limitingOwner(access, resource)
    return owner ? `WHEN '${resource.path}' THEN ${parentState(owner, 'one.parent_id', 'one.position')}` : []
  })
  return cases.length > 0 ? `CASE one.collection ${cases.join(' ')} END` : 'NULL::jsonb'
}

async function readPart(client: StatementClient, request: FeedRequest, place: Place) {
  const { access, resources } = request
  const isLimited = resources.some((resource) => access.readable(resource))
  const readable = isLimited ? new ReadableChanges(client, request) : undefined
  const scanned = readable?.scanned ?? resources
  const limit = readable ? Math.max(request.limit, LEAST_STORED) : request.limit
  const exact = scanned.flatMap(exactColumns)
  const values = [place.after, scanned.map(({ path }) => path), limit + 1, SCANNED_POSITIONS, exact]
  const found = await client.$rows<StateRow & Feed>({ text: statementFor(readable), values })
  const [feed] = found as [StateRow & Feed]
  const rows = found.filter(({ position }) => position !== null).slice(0, limit)
  const isFull = found.length > limit
  const reached = (isFull ? rows.at(-1)?.position : feed.reached) ?? 0
  const seen = await readable?.pageOf(rows, request.limit, place)
  return {
    ...feed,
    changes: seen?.changes ?? rows.map((row) => toChange(resources, row)),
    next: seen?.next ?? toCursor(Math.max(place.after, reached)),
    isGone: place.after < feed.purged || place.after > feed.last || feed.lost,
    hasMore: seen?.next !== undefined || isFull || feed.scanned === SCANNED_POSITIONS,
  }
}
