import type { GraphQLFieldResolver } from 'graphql'
import type { GroupField } from '../../domain/model/fields.ts'
import { operationsOf } from '../../domain/model/operations.ts'
import { ownedBy, referencesTo, relationsOf } from '../../domain/model/relations.ts'
import type { Resource } from '../../domain/model/resource.ts'
import type { Row } from '../../domain/model/row.ts'
import { type GraphContext, requireScope } from '../execution/context.ts'
import { camelCase, connectionField, graphNames, groupType, pascalCase, singular } from '../names.ts'
import { type ConnectionArguments, connectionArguments, resolveConnection } from './connections.ts'
import { equalities } from './filters.ts'
import { type PageArguments, pageArguments, resolvePage } from './pages.ts'
import { described, fieldOf, filterType, leafType, memberOf, outputType, type SchemaPart } from './sdl.ts'

type Resolver<Arguments> = GraphQLFieldResolver<Row, GraphContext, Arguments>

/** A field of an object type, and its resolver; one that is named as its column needs none. */
interface ObjectField {
  readonly name: string
  readonly sdl: string
  readonly resolve?: Resolver<never> | undefined
}

/** The object type of a resource: its fields, and the resources it is related to. */
export function objectType(resource: Resource, resources: readonly Resource[]): SchemaPart {
  const version: ObjectField = {
    name: 'version',
    sdl: fieldOf('version', 'Goes up by one with every change; what ifVersion is compared with.', [], 'Int!'),
  }
  const fields = [
    ...ownFields(resource),
    version,
    ...referenceFields(resource, resources),
    ...parentFields(resource),
    ...childFields(resource, resources),
  ]
  return {
    typeDefs: `${described(resource.description)}type ${resource.name} { ${fields.map(({ sdl }) => sdl).join('\n')} }`,
    resolvers: { [resource.name]: resolversOf(fields) },
  }
}

function resolversOf(fields: readonly ObjectField[]): object {
  return Object.fromEntries(fields.flatMap(({ name, resolve }) => (resolve ? [[name, resolve]] : [])))
}

function ownFields(resource: Resource): ObjectField[] {
  return Object.entries(resource.allFields).map(([name, field]) => {
    const sdl = memberOf(name, field, outputType(resource, name, field))
    if (field.type !== 'group') return { name: camelCase(name), sdl, resolve: columnResolver(name) }
    const columns = Object.keys(field.fields).map((member) => `${name}_${member}`)
    const isSet = (row: Row) => columns.some((column) => row[column] !== null)
    return { name: camelCase(name), sdl, resolve: (row) => (isSet(row) ? row : null) }
  })
}

function columnResolver(column: string): Resolver<never> | undefined {
  return column === camelCase(column) ? undefined : (row) => row[column]
}

function referenceFields(resource: Resource, resources: readonly Resource[]): ObjectField[] {
  return relationsOf(resource, resources).map(({ relation, leaf, target }) => ({
    name: camelCase(relation),
    sdl: fieldOf(camelCase(relation), `The resource that the ${relation} refers to.`, [], target.name),
    resolve: relatedResolver(target, (row) => row[leaf.column] as string | null),
  }))
}

function parentFields({ owner, parentField }: Resource): ObjectField[] {
  if (!owner || !parentField) return []
  const resolve = relatedResolver(owner, (row) => row[parentField] as string)
  return [{ name: singular(owner), sdl: fieldOf(singular(owner), 'The parent.', [], owner.name), resolve }]
}

function relatedResolver(target: Resource, identifier: (row: Row) => string | null): Resolver<never> {
  return (row, _, context) => {
    requireScope(context, target, 'read')
    const id = identifier(row)
    return id === null ? null : context.loaders.row(target, 'id', id)
  }
}

function childFields(resource: Resource, resources: readonly Resource[]): ObjectField[] {
  const owned = ownedBy(resource, resources)
  const referring = referencesTo(resource, resources).map(({ from }) => from)
  return [...owned, ...referring].flatMap((child) =>
    operationsOf(child).listed ? listFields(resource, child) : singletonFields(child),
  )
}

/** Lists may be null, so that one the caller has no scope for leaves the rest be. */
function listFields(parent: Resource, child: Resource): ObjectField[] {
  const { pageType, connectionType } = graphNames(child)
  const name = camelCase(child.path)
  const connection = connectionField(name)
  const sourceOf = ({ id }: Row) => ({ resource: child, parent: { resource: parent, id }, isBatched: true })
  return [
    {
      name,
      sdl: fieldOf(name, `A page of its ${child.path}.`, pageArguments(child), pageType),
      resolve: (row, args: PageArguments, context, info) => resolvePage(sourceOf(row), args, context, info),
    },
    {
      name: connection,
      sdl: fieldOf(connection, `Its ${child.path}, by cursors.`, connectionArguments(child), connectionType),
      resolve: (row, args: ConnectionArguments, context, info) =>
        resolveConnection(sourceOf(row), args, context, info),
    },
  ]
}

function singletonFields(child: Resource): ObjectField[] {
  const name = camelCase(child.path)
  const presence = `has${pascalCase(child.path)}`
  const find = ({ id }: Row, { loaders }: GraphContext) => loaders.row(child, child.parentField as string, id)
  return [
    {
      name,
      sdl: fieldOf(name, child.description, [], child.name),
      resolve: (row, _, context) => {
        requireScope(context, child, 'read')
        return find(row, context)
      },
    },
    {
      name: presence,
      sdl: fieldOf(presence, 'Whether it has one; needs no scope of its own.', [], 'Boolean!'),
      resolve: async (row, _, context) => (await find(row, context)) !== undefined,
    },
  ]
}

/** The types of the fields of a resource that hold an object: to be read, to be written, and to filter by. */
export function groupTypes(resource: Resource): SchemaPart[] {
  return Object.entries(resource.fields).flatMap(([name, field]) =>
    field.type === 'group' ? [groupTypesOf(resource, name, field)] : [],
  )
}

function groupTypesOf(resource: Resource, name: string, group: GroupField): SchemaPart {
  const type = groupType(resource, name)
  const members = Object.entries(group.fields)
  const values = members.map(([member, field]) => memberOf(member, field, leafType(resource, member, field)))
  const filters = members.map(([member, field]) =>
    memberOf(member, field, filterType(resource, member, field)),
  )
  return {
    typeDefs: `${described(group.description)}type ${type} { ${values.join('\n')} }
      ${described(group.description)}input ${type}Input { ${values.join('\n')} }
      "A condition on it: all members that are given must hold."
      input ${type}Filter { ${filters.join('\n')} }`,
    resolvers: {
      [type]: Object.fromEntries(
        members.map(([member]) => [camelCase(member), (row: Row) => row[`${name}_${member}`]]),
      ),
    },
  }
}

/** The enumerations of a resource, each with its filter. */
export function enumerations(resource: Resource): SchemaPart[] {
  return resource.leaves.flatMap(({ column, field }) => {
    if (field.type !== 'enumeration') return []
    const type = groupType(resource, column)
    const typeDefs = `${described(field.description)}enum ${type} { ${field.values.join(' ')} }
      "A condition on it: all members that are given must hold."
      input ${type}Filter { ${equalities(type)} }`
    return [{ typeDefs }]
  })
}
