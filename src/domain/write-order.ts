import { setImmediate as nextTurn } from 'node:timers/promises'
import { lockStatement } from '../database/sql/write.ts'
import type { Resource } from '../model/definition/resource.ts'
import { isResourceKey, type ResourceKey } from '../model/rows/identifiers.ts'
import type { WriteContext } from './context.ts'
import { type Creation, createTogether } from './create-together.ts'
import type { Written } from './write-row.ts'

/** A write that waits for its turn. */
interface WaitingWrite {
  readonly resource: Resource
  /** Without an identifier if it is generated. */
  readonly key: Partial<ResourceKey>
  /** Set if the write can be executed together with other creations. */
  readonly creation: Creation | undefined
}

/** Announces a write, and waits for the operations before. Resolves to the resource if it was created with others. */
export type TakeTurn = (write: WaitingWrite) => Promise<Written | undefined>

/** Operations begun in one turn of the event loop. A hundred would delay the requests of others by 20 ms. */
const OPERATIONS_PER_TURN = 10

/**
 * Executes operations with at most one write each, in order: the next one writes after the result of the one before.
 * All begin at once, so that the rows of all writes are locked first, in the same order in all transactions, and
 * creations that follow each other are executed together.
 *
 * @param goesOn whether to continue after a result
 * @returns the results up to the one that ends the sequence
 */
export async function executeInOrder<Result>(
  context: WriteContext,
  operations: readonly ((takeTurn: TakeTurn) => Promise<Result>)[],
  goesOn: (result: Result) => boolean,
): Promise<Result[]> {
  const begun: ReturnType<typeof begin<Result>>[] = []
  for (const [index, operation] of operations.entries()) {
    begun.push(begin(operation))
    if ((index + 1) % OPERATIONS_PER_TURN === 0) await nextTurn()
  }
  const writes = await Promise.all(begun.map(({ write }) => write))
  await lockInOrder(context, writes)
  const results: Result[] = []
  let created: readonly (Written | undefined)[] = []
  for (const [index, { proceed, result }] of begun.entries()) {
    if (created.length === 0) created = await createNext(context, writes.slice(index))
    const [written, ...rest] = created
    created = rest
    proceed(written)
    results.push(await result)
    if (!goesOn(results[index] as Result)) break
    if ((index + 1) % OPERATIONS_PER_TURN === 0) await nextTurn()
  }
  return results
}

function begin<Result>(operation: (takeTurn: TakeTurn) => Promise<Result>) {
  let announce = (_: WaitingWrite | undefined) => {}
  let proceed = (_: Written | undefined) => {}
  const write = new Promise<WaitingWrite | undefined>((resolve) => {
    announce = resolve
  })
  const turn = new Promise<Written | undefined>((resolve) => {
    proceed = resolve
  })
  const result = operation((own) => {
    announce(own)
    return turn
  })
  // An operation that is refused at once announces no write.
  const end = () => announce(undefined)
  result.then(end, end)
  return { proceed, result, write }
}

/**
 * Locks the rows that the writes may change, in the same order in all transactions, so that these do not wait for each
 * other in a circle. Rows of a resource with rules of access are not locked: the caller might not be allowed to change them.
 */
async function lockInOrder(
  { access, client }: WriteContext,
  writes: readonly (WaitingWrite | undefined)[],
): Promise<void> {
  const changes = writes.flatMap((write) => changedRow(write) ?? [])
  if (changes.length < 2) return
  const resources = [...new Set(changes.map(({ resource }) => resource))]
  for (const resource of resources.sort((one, other) => (one.path < other.path ? -1 : 1))) {
    const keys = changes.filter((change) => change.resource === resource).map(({ key }) => key)
    if (!access.isLimited(resource)) await client.$rows(lockStatement(resource, keys))
  }
}

/** Undefined for a resource that must not exist yet, or whose key is malformed. */
function changedRow(write: WaitingWrite | undefined): { resource: Resource; key: ResourceKey } | undefined {
  if (!write || (write.creation && !write.creation.mayReplace)) return undefined
  const { parentId, id = '' } = write.key
  return isResourceKey({ parentId, id }) ? { resource: write.resource, key: { parentId, id } } : undefined
}

/** Executes the creations that come next, if they are several of one kind. */
async function createNext(context: WriteContext, writes: readonly (WaitingWrite | undefined)[]) {
  const resource = writes[0]?.resource
  const end = writes.findIndex((write) => write?.resource !== resource || !write?.creation)
  const run = end === -1 ? writes : writes.slice(0, end)
  const creations = run.flatMap((write) => write?.creation ?? [])
  return resource && creations.length > 1 ? createTogether(context, resource, creations) : []
}
