import type { GroupField } from '../../domain/model/fields.ts'
import { operationsOf } from '../../domain/model/operations.ts'
import { ownedBy, referencesTo, relationsOf } from '../../domain/model/relations.ts'
import type { Resource } from '../../domain/model/resource.ts'
import { camelCase, connectionField, graphNames, groupType, pascalCase, singular } from '../names.ts'
import { described, filterType, leafType, memberOf, outputType } from './field-types.ts'
import { connectionArguments, pageArguments } from './query-types.ts'

/** The object type of a resource: its fields, and the resources it is related to. */
export function objectType(resource: Resource, resources: readonly Resource[]): string {
  const own = Object.entries(resource.allFields).map(
    ([name, field]) =>
      `${described(field.description)}${camelCase(name)}: ${outputType(resource, name, field)}`,
  )
  const related = relationsOf(resource, resources).map(
    ({ relation, target }) =>
      `"The resource that the ${relation} refers to."\n${camelCase(relation)}: ${target.name}`,
  )
  const { owner } = resource
  const parent = owner ? `"The parent." ${singular(owner)}: ${owner.name}` : ''
  const children = [
    ...ownedBy(resource, resources),
    ...referencesTo(resource, resources).map(({ from }) => from),
  ]
  return `${described(resource.description)}type ${resource.name} {
    ${own.join('\n')}
    "Goes up by one with every change; what ifVersion is compared with."
    version: Int!
    ${related.join('\n')}
    ${parent}
    ${children.map(childField).join('\n')}
  }`
}

/** Lists may be null, so that one the caller has no scope for leaves the rest be. */
function childField(child: Resource): string {
  if (!operationsOf(child).listed) {
    return `${described(child.description)}${camelCase(child.path)}: ${child.name}
    "Whether it has one; needs no scope of its own."
    has${pascalCase(child.path)}: Boolean!`
  }
  const { pageType, connectionType } = graphNames(child)
  const name = camelCase(child.path)
  return `"A page of its ${child.path}." ${name}(${pageArguments(child)}): ${pageType}
    "Its ${child.path}, by cursors." ${connectionField(name)}(${connectionArguments(child)}): ${connectionType}`
}

/** The types of a field that holds an object: to be read, to be written, and to filter by. */
export function groupTypes(resource: Resource, name: string, group: GroupField): string {
  const type = groupType(resource, name)
  const members = Object.entries(group.fields)
  const outputs = members.map(([member, field]) => memberOf(member, field, leafType(resource, member, field)))
  const inputs = outputs.join('\n')
  const filters = members.map(([member, field]) =>
    memberOf(member, field, filterType(resource, member, field)),
  )
  return `${described(group.description)}type ${type} { ${outputs.join('\n')} }
    ${described(group.description)}input ${type}Input { ${inputs} }
    "A condition on it: all members that are given must hold."
    input ${type}Filter { ${filters.join('\n')} }`
}

/** The enumerations of a resource, each with its filter. */
export function enumerations(resource: Resource): string[] {
  return resource.leaves.flatMap(({ column, field }) => {
    if (field.type !== 'enumeration') return []
    const type = groupType(resource, column)
    return [
      `${described(field.description)}enum ${type} { ${field.values.join(' ')} }`,
      `"A condition on it: all members that are given must hold."
      input ${type}Filter { "It is this." equals: ${type} "It is one of these." in: [${type}!] }`,
    ]
  })
}
