import type { Consumer } from './consumers.ts'
import type { Change, Ledger } from './ledger.ts'

/** What must be in the feed. */
export interface Expected {
  readonly committed: readonly Change[]
  /** The version of each resource that exists. */
  readonly current: ReadonlyMap<string, number>
  readonly ledger: Ledger
}

/** So many problems of one kind are printed. */
const PRINTED = 5

/** Says how the feed contradicts what was written, and consumers each other. */
export function compare(consumers: readonly Consumer[], expected: Expected): string[] {
  const first = consumers.find(({ seen }) => seen[0]?.cursor !== undefined) ?? (consumers[0] as Consumer)
  return [
    ...consumers.flatMap((consumer) => [
      ...limited(repeated(consumer)),
      ...limited(disordered(consumer, expected.current)),
      ...limited(unlikeFirst(consumer, first)),
    ]),
    ...limited(missing(first, expected)),
  ]
}

function limited(problems: readonly string[]): string[] {
  const rest = problems.length - PRINTED
  return [...problems.slice(0, PRINTED), ...(rest > 0 ? [`${rest} more like it`] : [])]
}

function repeated({ name, seen }: Consumer): string[] {
  const cursors = new Set<string>()
  const changes = new Set<Change>()
  return seen.flatMap(({ cursor, change }) => {
    const isRepeated = (cursor !== undefined && cursors.has(cursor)) || changes.has(change)
    if (cursor !== undefined) cursors.add(cursor)
    changes.add(change)
    return isRepeated ? [`${name}: ${change} at ${cursor} is there twice`] : []
  })
}

/** The versions of a resource are those from its first to its current one. A deletion has the version before it. */
function disordered({ name, seen }: Consumer, current: ReadonlyMap<string, number>): string[] {
  const states = new Map<string, { readonly version: number; readonly exists: boolean }>()
  const problems: string[] = []
  for (const { change } of seen) {
    const [resource = '', version, event] = change.split(' ')
    const former = states.get(resource) ?? { version: 0, exists: false }
    const next = former.version + (event === 'deleted' ? 0 : 1)
    if (Number(version) !== next || former.exists !== (event !== 'created'))
      problems.push(
        `${name}: ${change} after version ${former.version} (${former.exists ? 'there' : 'absent'})`,
      )
    states.set(resource, { version: Number(version), exists: event !== 'deleted' })
  }
  for (const resource of new Set([...states.keys(), ...current.keys()])) {
    const { version, exists } = states.get(resource) ?? { version: 0, exists: false }
    const last = exists ? version : undefined
    if (last !== current.get(resource))
      problems.push(`${name}: ${resource} ends at version ${last}, it has ${current.get(resource)}`)
  }
  return problems
}

function unlikeFirst({ name, seen }: Consumer, first: Consumer): string[] {
  const length = Math.max(seen.length, first.seen.length)
  for (let index = 0; index < length; index++) {
    const [one, other] = [seen[index], first.seen[index]]
    const isAtSame = one?.cursor === other?.cursor || one?.cursor === undefined
    if (isAtSame && one?.change === other?.change) continue
    return [
      `${name}: change ${index} is ${one?.change} at ${one?.cursor}, ${other?.change} at ${other?.cursor} for ${first.name}`,
    ]
  }
  return []
}

/** What was acknowledged or committed, and is not in the feed, and the other way round. */
function missing({ seen }: Consumer, { committed, ledger }: Expected): string[] {
  const inFeed = new Set(seen.map(({ change }) => change))
  const deletions = new Map<string, number>()
  for (const change of inFeed) {
    const [resource = '', , event] = change.split(' ')
    if (event === 'deleted') deletions.set(resource, (deletions.get(resource) ?? 0) + 1)
  }
  const wasCommitted = new Set(committed)
  return [
    ...ledger.changes
      .filter((change) => !inFeed.has(change))
      .map((change) => `acknowledged, missing: ${change}`),
    ...[...ledger.deletions]
      .filter(([resource, count]) => count > (deletions.get(resource) ?? 0))
      .map(
        ([resource, count]) => `${count} deletions of ${resource} acknowledged, not all of them in the feed`,
      ),
    ...committed.filter((change) => !inFeed.has(change)).map((change) => `committed, missing: ${change}`),
    ...[...inFeed]
      .filter((change) => !wasCommitted.has(change))
      .map((change) => `never committed: ${change}`),
  ]
}
