import { quoted, quotedTable } from '../database/sql/statement.ts'
import { allows } from '../model/caller.ts'
import { type Detail, type DomainError, errorAt, refuseRuleViolation } from '../model/errors.ts'
import { kindOf } from '../model/fields.ts'
import { isIdentifier, isResourceKey } from '../model/identifiers.ts'
import { capitalized, noun, withArticle } from '../model/labels.ts'
import { relationsOf } from '../model/relations.ts'
import type { Resource, Values } from '../model/resource.ts'
import { changedColumns, toValues, valueAt } from '../model/rows.ts'
import { uniqueExpression, uniqueLeaves } from '../model/uniqueness.ts'
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
  const { before, after } = change
  const values = toValues(resource, { ...before, ...after })
  const stored = before && toValues(resource, before)
  const broken = (resource.rules ?? []).flatMap((rule) => rule(values, stored))
  const moved = brokenTransitions(resource, values, stored)
  refuseRuleViolation([...moved, ...broken, ...(await unknownReferences(change, resource, resources))])
  await resource.databaseRule?.(change)
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
  { client, before, after }: DataChange,
  resource: Resource,
  resources: readonly Resource[],
): Promise<Detail[]> {
  const changed = relationsOf(resource, resources).filter(
    ({ leaf }) => resource.writable.includes(leaf) && after?.[leaf.column] !== before?.[leaf.column],
  )
  const details = changed.map(async ({ leaf, target }): Promise<Detail[]> => {
    const id = after?.[leaf.column] as string | null
    if (id === null || (isIdentifier(id) && (await client.findByKey(target, { id })))) return []
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
  { client, caller, key: { parentId, id }, before, after }: Omit<DataChange, 'isInTransaction' | 'settings'>,
  resource: Resource,
): Promise<void> {
  if (!after) return
  const changed = before ? changedColumns(before, after) : after
  for (const leaf of resource.leaves) {
    const leaves = uniqueLeaves(resource, leaf) ?? []
    const values = leaves.map(
      ({ column }) => (column === resource.parentField ? parentId : after[column]) ?? null,
    )
    if (values.includes(null) || !leaves.some(({ column }) => column in changed)) continue
    const equal = leaves.map((one, index) =>
      [quoted(one.column), `$${index + 2}`].map((side) => uniqueExpression(resource, one, side)).join(' = '),
    )
    const text = `SELECT id FROM ${quotedTable(resource)} WHERE id <> $1 AND ${equal.join(' AND ')}`
    const [other] = await client.$rows<{ id: string }>({ text, values: [id, ...values] })
    if (other)
      throw duplicateValue(resource, leaf.name, allows(caller, resource, 'read') ? other.id : undefined)
  }
}

/**
 * Refuses to create a resource if the body has the identifier of another one: the request was meant for that one.
 *
 * @throws {DomainError} RESOURCE_ALREADY_EXISTS (409)
 */
export async function refuseTakenIdentifier(
  { client, caller, key }: DataChange,
  resource: Resource,
  id: string,
): Promise<void> {
  const other = { ...key, id }
  if (!isResourceKey(other) || !(await client.findByKey(resource, other))) return
  const isNamed = allows(caller, resource, 'read') && !resource.owner
  throw duplicateValue(resource, 'id', isNamed ? id : undefined)
}

/** RESOURCE_ALREADY_EXISTS (409), with the identifier of the other resource if the caller may read it. */
export function duplicateValue({ path }: Resource, field: string, id?: string): DomainError {
  const message = `${id === undefined ? 'Another resource' : `The resource ${JSON.stringify(id)}`} in ${path} already has this ${field}.`
  const error = errorAt(field, 'DUPLICATE_VALUE', 'RESOURCE_ALREADY_EXISTS', message)
  return id === undefined ? error : Object.assign(error, { related: { path, id } })
}
