import { kindOf, type LeafField } from '../definition/fields.ts'
import { relationsOf } from '../definition/relations.ts'
import type { Resource } from '../definition/resource.ts'
import { type Operator, operatorDefinition } from '../query/operators.ts'
import { type Filter, partsOf } from '../query/query.ts'
import { isObject } from '../values.ts'

export const NOTHING: Filter = { any: [] }
const EVERY: Filter = { all: [] }

/**
 * Converts the filter of a rule. A condition matches nothing, within `not` too, if its operand has no value, such as a claim
 * that the token lacks, or none of the kind of its field.
 *
 * @param resources among which are the targets of relations; conditions on these have no relations themselves
 * @throws {TypeError} for a field or an operator that the resource does not have
 */
export function accessFilter(
  resource: Resource,
  conditions: unknown,
  resources: readonly Resource[],
  isNegated = false,
): Filter {
  if (typeof conditions === 'boolean') return conditions ? EVERY : NOTHING
  const undecidable = isNegated ? EVERY : NOTHING
  if (isMissing(conditions)) return undecidable
  if (!isObject(conditions)) throw new TypeError('a condition is an object, true or false')
  const parts = (some: unknown) =>
    [some].flat().map((part) => accessFilter(resource, part, resources, isNegated))
  const all = Object.entries(conditions).flatMap(([name, value]): Filter[] => {
    if (name === 'and') return parts(value)
    if (name === 'or') return [{ any: parts(value) }]
    if (name === 'not')
      return isMissing(value)
        ? [undecidable]
        : [{ not: accessFilter(resource, value, resources, !isNegated) }]
    const relation = relationNamed(resource, name, resources)
    if (!relation) return fieldConditions(resource, [name], value, undecidable)
    const related = accessFilter(relation.target, value, [], isNegated)
    // An operand without a value also counts where the reference is unset.
    return [isNegated && isAlways(true, related) ? EVERY : { ...relation, related }]
  })
  return { all }
}

/** The target of a link relation of a row, unless a field has its name. */
function relationNamed(resource: Resource, name: string, resources: readonly Resource[]) {
  const { leaves, owner, parentField } = resource
  if (resources.length === 0 || leaves.some(({ path }) => path[0] === name)) return undefined
  if (owner && parentField && name === 'parent') return { column: parentField, target: owner }
  const found = relationsOf(resource, resources).find(({ relation }) => relation === name)
  return found && { column: found.leaf.column, target: found.target }
}

/** Whether a filter has this result for every row. */
function isAlways(result: boolean, filter: Filter): boolean {
  if ('not' in filter) return isAlways(!result, filter.not)
  if (!('all' in filter || 'any' in filter)) return false
  const isOne = (part: Filter) => isAlways(result, part)
  return 'all' in filter === result ? partsOf(filter).every(isOne) : partsOf(filter).some(isOne)
}

function isMissing(value: unknown): value is null | undefined {
  return (value ?? undefined) === undefined
}

/** The conditions on a field, or on the members of a group. */
function fieldConditions(
  resource: Resource,
  path: readonly string[],
  conditions: unknown,
  undecidable: Filter,
): Filter[] {
  const name = path.join('.')
  const leaf = resource.leaves.find((one) => one.name === name)
  if (!leaf && !resource.leaves.some((one) => one.name.startsWith(`${name}.`)))
    throw new TypeError(`${resource.path} has no field ${name}`)
  if (isMissing(conditions)) return [undecidable]
  if (!isObject(conditions)) throw new TypeError(`${name} needs an operator, as in { equals: … }`)
  return Object.entries(conditions).flatMap(([member, value]): Filter[] => {
    if (!leaf) return fieldConditions(resource, [...path, member], value, undecidable)
    const operator = member as Operator
    const operand = operandOf(leaf.field, operator, value)
    if (operand === undefined) return [undecidable]
    const condition = { field: name, operator, value: operand }
    const isPartial = Array.isArray(operand) && operand.length < (value as unknown[]).length
    return [isPartial ? { any: [condition, undecidable] } : condition]
  })
}

/** The value to compare with; undefined if there is none, or not one of the kind of the field. */
function operandOf(field: LeafField, operator: Operator, value: unknown): unknown {
  if (!kindOf(field).operators.includes(operator))
    throw new TypeError(`A field of the kind ${field.type} cannot be compared with ${operator}.`)
  const { operand } = operatorDefinition(operator)
  if (operand === 'boolean') return typeof value === 'boolean' ? value : undefined
  if (operand !== 'values') return comparable(field, value)
  if (!Array.isArray(value)) return undefined
  return value.map((one) => comparable(field, one)).filter((one) => one !== undefined)
}

function comparable(field: LeafField, value: unknown): unknown {
  const { fromQuery, isText } = kindOf(field)
  const text = value instanceof Date ? value.toISOString() : value
  const isNumeric = typeof text === 'number' || typeof text === 'boolean'
  if (typeof text !== 'string' && (isText || !isNumeric)) return undefined
  const checked = fromQuery(field, String(text))
  return 'value' in checked ? checked.value : undefined
}
