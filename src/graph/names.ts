import type { Resource } from '../domain/model/resource.ts'

/** GraphQL names are in camel case; a wire name in snake case, or a path with hyphens, becomes one. */
export function camelCase(name: string): string {
  return name.replace(/[_-]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** The GraphQL name with a capital, as types have it. */
export function pascalCase(name: string): string {
  const camel = camelCase(name)
  return camel.charAt(0).toUpperCase() + camel.slice(1)
}

/** The field of Query that reads one resource, and the member that holds it in a payload. */
export function singular({ name }: Resource): string {
  return name.charAt(0).toLowerCase() + name.slice(1)
}

/** The argument that names the parent: `planetId`. Undefined where there is no parent. */
export function parentArgument({ parentField }: Resource): string | undefined {
  return parentField && camelCase(parentField)
}

/** The names of a resource's operations, and of the types that belong to it. */
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
    type: name,
    pageType: `${name}Page`,
    connectionType: `${name}Connection`,
    edge: `${name}Edge`,
    aggregateType: `${name}Aggregate`,
    group: `${name}Group`,
    groupKey: `${name}GroupKey`,
    groupField: `${name}GroupField`,
    measures: `${name}Measures`,
    payload: `${name}Payload`,
    input: `${name}Input`,
    patchInput: `${name}Patch`,
    readOnlyInput: `${name}ReadOnly`,
    filter: `${name}Filter`,
    sort: `${name}Sort`,
    sortField: `${name}SortField`,
  }
}

/** The field that holds the connection of a list that is in the field of a name. */
export function connectionField(list: string): string {
  return `${list}Connection`
}

/** The type of a group's object: `SpeciesTemperatureRange`. */
export function groupType({ name }: Resource, group: string): string {
  return `${name}${pascalCase(group)}`
}

/** The value of a sort enumeration for a column: `TEMPERATURE_RANGE_MIN_CELSIUS`. */
export function sortValue(column: string): string {
  return column.toUpperCase()
}
