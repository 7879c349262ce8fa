import { setImmediate as nextTurn } from 'node:timers/promises'
import { prismaError } from '../database/errors.ts'
import { storedKeysStatement } from '../database/sql/write.ts'
import { TransactionNeeded } from '../model/definition/database-rule.ts'
import type { Resource, Values } from '../model/definition/resource.ts'
import { DomainError, isUnavailable } from '../model/errors.ts'
import { newColumns } from '../model/rows/columns.ts'
import {
  isResourceKey,
  keyColumns,
  keyOf,
  keyText,
  makeIdentifier,
  type ResourceKey,
} from '../model/rows/identifiers.ts'
import type { DataChange, WriteContext } from './context.ts'
import { refuseBrokenRules } from './rules.ts'
import { inOneTransaction, TransactionEnded } from './transaction.ts'
import { newValues, type WriteKind, type WriteOptions } from './write.ts'
import { authored, type Written } from './write-row.ts'

/** A resource to create unless its identifier is taken. A missing identifier is generated. */
export interface Creation {
  readonly parentId?: string | undefined
  readonly id: string | undefined
  readonly body: Values
  readonly apiVersion?: string | undefined
  /** Whether the resource that has the identifier is replaced. */
  readonly mayReplace: boolean
}

/** A write that may create, without a condition on the stored resource; undefined for others, or with an idempotency key. */
export function creationOf(
  kind: WriteKind,
  { parentId, id }: Partial<ResourceKey>,
  body: Values,
  { key, otherThan, versions, unlessVersions, apiVersion, mayCreate = true }: WriteOptions,
): Creation | undefined {
  if (kind !== 'create' && kind !== 'put') return undefined
  const isConditional = !mayCreate || versions || key !== undefined || otherThan !== undefined
  const mayReplace = id !== undefined && unlessVersions !== 'all'
  return isConditional ? undefined : { parentId, id, body, apiVersion, mayReplace }
}

/** Creates these resources in one transaction, except for those that exist or must be written by themselves. */
export function createAll(
  context: WriteContext,
  resource: Resource,
  creations: readonly Creation[],
): Promise<boolean[]> {
  return inOneTransaction(context, { hasSavepoints: false }, async (client, transaction) => {
    const result: boolean[] = []
    while (result.length < creations.length) {
      const rest = creations.slice(result.length)
      const written = await createTogether({ ...context, client, transaction }, resource, rest)
      result.push(...(written.length > 0 ? written.map((one) => one !== undefined) : [false]))
    }
    return { result, isKept: true }
  })
}

/**
 * Creates the first of these resources in a few statements, in a fifth of the time that one statement for each takes. Ends
 * before the first creation that has to follow the others: it replaces a resource, is refused, or has a rule that locks
 * or writes.
 *
 * @returns a result for each creation before the end, or undefined if it must be written by itself
 * @throws {TransactionEnded} if the database refuses one: the next attempt finds out which
 */
export async function createTogether(
  context: WriteContext,
  resource: Resource,
  creations: readonly Creation[],
): Promise<readonly (Written | undefined)[]> {
  // Other rules read what was written before them, and with savepoints, each write may fail by itself.
  const isIndependent = resource.databaseRule?.readsFirst ?? !resource.databaseRule
  if (!isIndependent || context.access.isLimited(resource) || context.transaction?.hasSavepoints !== false)
    return []
  try {
    const changes = await firstChanges(context, resource, creations)
    const additions = changes.filter((change) => change !== undefined)
    // A hundred rows take 10 ms, during which the requests of others wait.
    await nextTurn()
    const columns = additions.map(({ key, after }) =>
      authored(context, { ...after, ...keyColumns(resource, key) }),
    )
    const created = additions.length > 0 ? await context.client.createAll(resource, columns) : []
    const rows = new Map(created.map((row) => [keyText(keyOf(resource, row)), row]))
    return changes.map((change) => {
      const row = change && rows.get(keyText(change.key))
      return row && { outcome: 'CREATED', row }
    })
  } catch (error) {
    const cause = prismaError(error)
    if (isUnavailable(cause)) throw cause
    throw new TransactionEnded()
  }
}

/** Undefined for a resource that exists and is not replaced, or a malformed key. */
async function firstChanges(
  context: WriteContext,
  resource: Resource,
  creations: readonly Creation[],
): Promise<(DataChange | undefined)[]> {
  const { access, client, caller, ruleSettings: settings } = context
  const taken = await storedKeys(context, resource, creations)
  const changes: (DataChange | undefined)[] = []
  for (const { parentId, id = makeIdentifier(resource), body, apiVersion, mayReplace } of creations) {
    const key = { parentId, id }
    const isNew = isResourceKey(key) && !taken.has(keyText(key))
    if (!isNew && mayReplace) break
    if (!isNew) {
      changes.push(undefined)
      continue
    }
    taken.add(keyText(key))
    // Rules that lock or write rely on the writes before, which are in the database before the first creation only.
    const isInTransaction = changes.every((change) => change === undefined)
    try {
      const after = newColumns(resource, newValues(context, resource, key, body, apiVersion), caller)
      const change = { client, isInTransaction, access, caller, settings, key, before: undefined, after }
      await refuseBrokenRules(change, resource, context.resources)
      changes.push(change)
    } catch (error) {
      if (!isRefusal(error)) throw error
      break
    }
  }
  return changes
}

/** Whether the creation must be tried by itself, after those before it. */
function isRefusal(error: unknown): boolean {
  const isRefused = error instanceof DomainError && !isUnavailable(error)
  return isRefused || error instanceof TransactionNeeded
}

/** Those of the keys, as texts, that resources have. */
export async function storedKeys(
  { client }: Pick<WriteContext, 'client'>,
  resource: Resource,
  creations: readonly Pick<Creation, 'parentId' | 'id'>[],
) {
  const keys = creations.flatMap(({ parentId, id }) => (id === undefined ? [] : [{ parentId, id }]))
  const texts = keys.filter(isResourceKey).map(keyText)
  const rows =
    texts.length > 0 ? await client.$rows<{ key: string }>(storedKeysStatement(resource, texts)) : []
  return new Set(rows.map(({ key }) => key))
}
