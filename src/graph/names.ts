import { definedName, type Field } from '../model/definition/fields.ts'
import { camelCase, capitalized } from '../model/definition/labels.ts'
import type { Leaf, Resource, Values } from '../model/definition/resource.ts'
import type { Operator } from '../model/query/operators.ts'
import type { Sort } from '../model/query/query.ts'

export { camelCase }

export function pascalCase(name: string): string {
  return capitalized(camelCase(name))
}

/** Whether links to it have the title that its definition declares. */
export function isTitled(resource: Resource): boolean {
  return resource.title !== undefined && hasDisplayName(resource)
}

/** Whether its type has the field `displayName`: not if the resource has a field of its own with this name. */
export function hasDisplayName({ allFields }: Resource): boolean {
  return !Object.keys(allFields).some((name) => camelCase(name) === 'displayName')
}

/** The field of Query that reads one resource, and the member of a payload that holds it. */
export function singular({ name }: Resource): string {
  return name.charAt(0).toLowerCase() + name.slice(1)
}

/** `planetId` */
export function parentArgument({ parentField }: Resource): string | undefined {
  return parentField && camelCase(parentField)
}

export function graphNames(resource: Resource) {
  const { name } = resource
  return {
    read: singular(resource),
    page: `${singular(resource)}Page`,
    connection: `${singular(resource)}Connection`,
    aggregate: `${singular(resource)}Aggregate`,
    create: `create${name}`,
    put: `put${name}`,
    patch: `patch${name}`,
    delete: `delete${name}`,
    changed: `${singular(resource)}Changed`,
    pageType: `${name}Page`,
    connectionType: `${name}Connection`,
    edge: `${name}Edge`,
    aggregateType: `${name}Aggregate`,
    group: `${name}Group`,
    groupKey: `${name}GroupKey`,
    groupField: `${name}GroupField`,
    timeField: `${name}TimeField`,
    timeGroup: `${name}TimeGroup`,
    numberField: `${name}NumberField`,
    rangeGroup: `${name}RangeGroup`,
    measures: `${name}Measures`,
    distinctCounts: `${name}DistinctCounts`,
    payload: `${name}Payload`,
    input: `${name}Input`,
    patchInput: `${name}Patch`,
    readOnlyInput: `${name}ReadOnly`,
    filter: `${name}Filter`,
    relatedFilter: `${name}RelatedFilter`,
    sort: `${name}Sort`,
    sortField: `${name}SortField`,
  }
}

/** `SpeciesTemperatureRange` */
export function groupType({ name }: Resource, group: string): string {
  return `${name}${pascalCase(group)}`
}

/** `TEMPERATURE_RANGE_MIN_CELSIUS` */
export function columnValue(column: string): string {
  return column.toUpperCase()
}

export function toGraphNames({ allFields }: Resource, values: Values): Values {
  return renamed(allFields, values, 'wire', 'graph')
}

export function toWireNames({ allFields }: Resource, input: Values): Values {
  return renamed(allFields, input, 'graph', 'wire')
}

type Fields = Resource['allFields']
type Side = 'graph' | 'wire'

function renamed(fields: Fields, values: Values, from: Side, to: Side): Values {
  const results: Record<string, unknown> = {}
  for (const names of namesOf(fields)) {
    const { field } = names
    const value = values[names[from]]
    if (value === undefined) continue
    const isNested = field.type === 'group' && value !== null
    results[names[to]] = isNested ? renamed(field.fields, value as Values, from, to) : value
  }
  return results
}

/** Cached, because computing the names takes 20 µs for each write. */
const namesByFields = new WeakMap<Fields, (Record<Side, string> & { readonly field: Field })[]>()

function namesOf(fields: Fields) {
  const existing = namesByFields.get(fields)
  if (existing) return existing
  const names = Object.entries(fields).map(([wire, field]) => {
    return { wire, graph: camelCase(definedName(wire, field)), field }
  })
  namesByFields.set(fields, names)
  return names
}

/** A member of a group has the name of the group in its column. */
export function toGraphFilter({ path, column }: Leaf, operator: Operator, value: unknown): Values {
  const [, member] = path
  const defined = member === undefined ? [column] : [column.slice(0, -member.length - 1), member]
  return defined.reduceRight<Values>((inner, name) => ({ [camelCase(name)]: inner }), { [operator]: value })
}

export function toGraphSort({ column }: Leaf, direction: Sort['direction']): Values {
  return { field: columnValue(column), direction: direction.toUpperCase() }
}
