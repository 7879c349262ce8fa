import type { Field } from '../model/fields.ts'
import { capitalized } from '../model/labels.ts'
import type { Operator } from '../model/query/operators.ts'
import type { Sort } from '../model/query/query.ts'
import type { Leaf, Resource, Values } from '../model/resource.ts'

// Converts between the wire names of definitions (snake case, dotted) and the names of GraphQL (camel case).

/** Converts a wire name in snake case, or a path with hyphens. */
export function camelCase(name: string): string {
  return name.replace(/[_-]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

export function pascalCase(name: string): string {
  return capitalized(camelCase(name))
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
    type: name,
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
  return renamed('graph', allFields, values)
}

export function toWireNames({ allFields }: Resource, input: Values): Values {
  return renamed('wire', allFields, input)
}

type Fields = Resource['allFields']
type Renamings = ReadonlyMap<string, { readonly name: string; readonly field: Field }>

function renamed(target: 'graph' | 'wire', fields: Fields, values: Values): Values {
  const renamings = renamingsOf(target, fields)
  const results: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(values)) {
    const { name, field } = renamings.get(key) as { name: string; field: Field }
    const isNested = field.type === 'group' && value !== null
    results[name] = isNested ? renamed(target, field.fields, value as Values) : value
  }
  return results
}

/** Cached, because computing the names takes 20 µs for each write. */
const known = { graph: new WeakMap<Fields, Renamings>(), wire: new WeakMap<Fields, Renamings>() }

function renamingsOf(target: 'graph' | 'wire', fields: Fields): Renamings {
  const found = known[target].get(fields)
  if (found) return found
  const renamings = new Map(
    Object.entries(fields).map(([name, field]) =>
      target === 'graph' ? [name, { name: camelCase(name), field }] : [camelCase(name), { name, field }],
    ),
  )
  known[target].set(fields, renamings)
  return renamings
}

export function toGraphFilter({ path }: Leaf, operator: Operator, value: unknown): Values {
  return path.reduceRight<Values>((inner, name) => ({ [camelCase(name)]: inner }), { [operator]: value })
}

export function toGraphSort({ column }: Leaf, direction: Sort['direction']): Values {
  return { field: columnValue(column), direction: direction.toUpperCase() }
}
