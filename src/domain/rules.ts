import type { DatabaseClient } from '../database/database-client.ts'
import { quoted, quotedTable } from '../database/sql/statement.ts'
import { unrestricted } from '../model/access/access.ts'
import { allows, OPERATOR } from '../model/access/caller.ts'
import { kindOf } from '../model/definition/fields.ts'
import { capitalized, noun, withArticle } from '../model/definition/labels.ts'
import { relationsOf } from '../model/definition/relations.ts'
import type { Resource, Values } from '../model/definition/resource.ts'
import { uniqueExpression, uniqueLeaves } from '../model/definition/uniqueness.ts'
import { type Detail, type DomainError, errorAt, refuseRuleViolation } from '../model/errors.ts'
import { changedColumns, toValues, valueAt } from '../model/rows/columns.ts'
import { isIdentifier, isResourceKey, keyOf, type ResourceKey } from '../model/rows/identifiers.ts'
import type { Row } from '../model/rows/row.ts'
import type { DataChange } from './context.ts'

/**
 * Checks the rules of a definition, its references, and its database rule.
 *
 * @throws {DomainError} BUSINESS_RULE_VIOLATION (422), or an error of the database rule
 */
export async function refuseBrokenRules(
  change: DataChange,
  resource: Resource,
  resources: readonly Resource[],
): Promise<void> {
  const { before, after, caller } = change
  const values = toValues(resource, { ...before, ...after })
  const stored = before && toValues(resource, before)
  // What operators import or seed went through its states elsewhere.
  const broken = brokenRules(resource, values, stored, !stored && caller === OPERATOR)
  refuseRuleViolation([...broken, ...(await unknownReferences(change, resource, resources))])
  await resource.databaseRule?.(change)
}

/** The problems that the rules of a definition find, and its transitions unless the row may be in any state. */
export function brokenRules(
  resource: Resource,
  values: Values,
  before: Values | undefined,
  hasAnyState = false,
): readonly Detail[] {
  const moved = hasAnyState ? [] : brokenTransitions(resource, values, before)
  return [...moved, ...(resource.rules ?? []).flatMap((rule) => rule(values, before))]
}

function brokenTransitions(resource: Resource, values: Values, before: Values | undefined): Detail[] {
  return resource.writable.flatMap((leaf): Detail[] => {
    const { name, field } = leaf
    const [from, to] = [before && valueAt(before, leaf), valueAt(values, leaf)]
    const allowed = kindOf(field).choicesAfter?.(field, from)
    if (!allowed || to === undefined || allowed.includes(to)) return []
    const others = allowed.filter((value) => value !== from)
    const advice = others.length > 0 ? `, only ${others.join(' or ')}` : ''
    const subject = capitalized(withArticle(`${from ?? 'new'} ${noun(resource)}`))
    const message = `${subject} cannot become ${to}${advice}.`
    return [{ field: name, code: 'INVALID_STATUS_TRANSITION', message }]
  })
}

/** Checks only changed references: foreign keys keep the others valid. */
async function unknownReferences(
  { access, client, before, after }: DataChange,
  resource: Resource,
  resources: readonly Resource[],
): Promise<Detail[]> {
  const changed = relationsOf(resource, resources).filter(
    ({ leaf }) => resource.writable.includes(leaf) && after?.[leaf.column] !== before?.[leaf.column],
  )
  const details = changed.map(async ({ leaf, target }): Promise<Detail[]> => {
    const id = after?.[leaf.column] as string | null
    if (id === null || (isIdentifier(id) && (await client.findByKey(target, { id }, access)))) return []
    const message = `There is no resource ${JSON.stringify(id)} in ${target.path}.`
    return [{ field: leaf.name, code: 'UNKNOWN_REFERENCE', message }]
  })
  return (await Promise.all(details)).flat()
}

/**
 * Refuses a unique value that another resource has. The unique index would refuse it too, but two callers who swap
 * values would wait for each other until PostgreSQL ends the deadlock after a second (`deadlock_timeout`).
 *
 * @throws {DomainError} RESOURCE_ALREADY_EXISTS (409)
 */
export async function refuseTakenValues(
  change: Omit<DataChange, 'isInTransaction' | 'settings'>,
  resource: Resource,
): Promise<void> {
  const { client, key, before, after } = change
  if (!after) return
  const changed = before ? changedColumns(before, after) : after
  for (const leaf of resource.leaves) {
    const leaves = uniqueLeaves(resource, leaf) ?? []
    const values = leaves.map(
      ({ column }) => (column === resource.parentField ? key.parentId : after[column]) ?? null,
    )
    if (values.includes(null) || !leaves.some(({ column }) => column in changed)) continue
    const equal = leaves.map((one, index) =>
      [quoted(one.column), `$${index + 2}`].map((side) => uniqueExpression(resource, one, side)).join(' = '),
    )
    const columns = resource.parentField ? `id, ${quoted(resource.parentField)}` : 'id'
    const text = `SELECT ${columns} FROM ${quotedTable(resource)} WHERE id <> $1 AND ${equal.join(' AND ')}`
    const [other] = await client.$rows<Row>({ text, values: [key.id, ...values] })
    if (!other) continue
    const isNamed = await isReadable(change, resource, keyOf(resource, other))
    throw duplicateValue(resource, leaf.name, isNamed ? other.id : undefined)
  }
}

async function isReadable(
  { access, caller, client }: Pick<DataChange, 'access' | 'caller' | 'client'>,
  resource: Resource,
  key: ResourceKey,
): Promise<boolean> {
  if (!allows(caller, resource, 'read')) return false
  return !access.readable(resource) || (await client.findByKey(resource, key, access)) !== null
}

/**
 * Refuses to create a resource whose identifier one has that the caller may not read: identifiers are unique in the whole
 * collection.
 *
 * @throws {DomainError} RESOURCE_ALREADY_EXISTS (409)
 */
export async function refuseHiddenIdentifier(
  client: DatabaseClient,
  resource: Resource,
  key: ResourceKey,
): Promise<void> {
  if (await client.findByKey(resource, key, ALL_ROWS)) throw duplicateValue(resource, 'id')
}

const ALL_ROWS = unrestricted('identifiers and unique values are facts of the whole collection')

/**
 * Refuses to create a resource if the body has the identifier of another one: the request was meant for that one.
 *
 * @throws {DomainError} RESOURCE_ALREADY_EXISTS (409)
 */
export async function refuseTakenIdentifier(
  change: DataChange,
  resource: Resource,
  id: string,
): Promise<void> {
  const other = { ...change.key, id }
  if (!isResourceKey(other) || !(await change.client.findByKey(resource, other, ALL_ROWS))) return
  const isNamed = !resource.owner && (await isReadable(change, resource, other))
  throw duplicateValue(resource, 'id', isNamed ? id : undefined)
}

/** RESOURCE_ALREADY_EXISTS (409), with the identifier of the other resource if the caller may read it. */
export function duplicateValue(resource: Resource, field: string, id?: string): DomainError {
  const { path, leaves } = resource
  const other = id === undefined ? 'Another resource' : `The resource ${JSON.stringify(id)}`
  const unique = leaves.flatMap((leaf) => (leaf.name === field ? (uniqueLeaves(resource, leaf) ?? []) : []))
  const within = unique.slice(0, -1).map(({ name }) => name)
  const scope = within.length > 0 ? ` within the same ${within.join(' and ')}` : ''
  const message = `${other} in ${path} already has this ${field}${scope}.`
  const error = errorAt(field, 'DUPLICATE_VALUE', 'RESOURCE_ALREADY_EXISTS', message)
  return id === undefined ? error : Object.assign(error, { related: { path, id } })
}
