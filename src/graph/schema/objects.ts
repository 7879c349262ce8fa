import type { Parent } from '../../domain/session/reader.ts'
import { allows, type Caller } from '../../model/access/caller.ts'
import { type Field, isAlwaysShown, kindOf, type LeafField } from '../../model/definition/fields.ts'
import { noun } from '../../model/definition/labels.ts'
import { ownedBy, referencesTo, relationsOf } from '../../model/definition/relations.ts'
import type { Resource, Values } from '../../model/definition/resource.ts'
import { hasRelatedTitle, titleOf } from '../../model/definition/titles.ts'
import { jsonValues } from '../../model/rows/columns.ts'
import type { ResourceKey } from '../../model/rows/identifiers.ts'
import type { Row } from '../../model/rows/row.ts'
import type { GraphContext } from '../execution/context.ts'
import { camelCase, graphNames, groupType, hasDisplayName, parentArgument, pascalCase } from '../names.ts'
import { aggregateQuery } from './aggregates.ts'
import { connectionArguments, resolveConnection } from './connections.ts'
import { groupFilter, valueFilter } from './filters.ts'
import { nodeIdField } from './nodes.ts'
import { pageArguments, resolvePage } from './pages.ts'
import { relatedFields, titleRelations, toOneRelations } from './related.ts'
import {
  addressArguments,
  described,
  fieldsOf,
  memberOf,
  permitted,
  type SchemaField,
  type SchemaPart,
  typeOf,
} from './sdl.ts'

export function objectType(resource: Resource, resources: readonly Resource[]): SchemaPart {
  return fieldsOf(resource.name, `${described(resource.description)}type ${resource.name} implements Node`, [
    nodeIdField(resource),
    ...ownFields(resource),
    { sdl: '"Increases by one with each change. See ifVersion." version: Int!' },
    {
      sdl: '"Who made the last change: subject of the token, or role in the database. Null if it is not known." changedBy: String',
      resolve: ({ changed_by }: Row) => changed_by,
    },
    ...displayName(resource, resources),
    ...relatedFields(resource, toOneRelations(resource, resources)),
    ...childFields(resource, resources),
  ])
}

/** One statement reads what the titles of a list have of each relation. */
function displayName(resource: Resource, resources: readonly Resource[]): SchemaField[] {
  const titleIn = ({ session }: GraphContext, of: Resource, row: Row, related?: Values) => {
    const view = session.view(of)
    return titleOf(view, jsonValues(view, row, view.leaves), related)
  }
  const resolve: SchemaField['resolve'] = (row: Row, _, context) => {
    const { session } = context
    if (!hasRelatedTitle(resource)) return titleIn(context, resource, row)
    const titles = titleRelations(session.view(resource), resources).map(
      async ({ relation, column, target }) => {
        const id = allows(session.caller, target, 'read') && row[column]
        const found = typeof id === 'string' ? await session.find(target, { id }) : undefined
        return found ? [[relation, titleIn(context, target, found)]] : []
      },
    )
    return Promise.all(titles).then((found) =>
      titleIn(context, resource, row, Object.fromEntries(found.flat())),
    )
  }
  return hasDisplayName(resource)
    ? [{ sdl: '"Names the resource for people." displayName: String!', resolve }]
    : []
}

function ownFields(resource: Resource): SchemaField[] {
  return Object.entries(resource.allFields).map(([name, field]) => {
    if (field.type !== 'group') return leafField(resource, name, field)
    const members = Object.entries(field.fields)
    // A member that the caller may not read must not show whether it is set.
    const isSet = (row: Row, caller: Caller) =>
      members.some(([member, { readScope }]) => {
        const isReadable = readScope === undefined || allows(caller, resource, readScope)
        return isReadable && row[`${name}_${member}`] !== null
      })
    const resolve = (row: Row, _: unknown, { session }: GraphContext) =>
      isSet(row, session.caller) ? row : null
    return { sdl: shownMember(resource, name, field), resolve: permitted(resource, field, resolve) }
  })
}

function shownMember(resource: Resource, name: string, field: Field, column = name): string {
  return memberOf(name, field, typeOf(resource, name, field, column) + (isAlwaysShown(field) ? '!' : ''))
}

/** Without a resolver that would only read the property of that name. */
function leafField(resource: Resource, name: string, field: LeafField, column = name): SchemaField {
  const { shown } = kindOf(field)
  const isProperty = !shown && column === camelCase(column) && field.readScope === undefined
  const resolve = (row: Row) => (shown ? shown(field, row[column] as never) : row[column])
  return {
    sdl: shownMember(resource, name, field, column),
    resolve: isProperty ? undefined : permitted(resource, field, resolve),
  }
}

function childFields(resource: Resource, resources: readonly Resource[]): SchemaField[] {
  const owned = ownedBy(resource, resources).flatMap((child) =>
    child.listed
      ? childLists(resource, child, child.path, child.parentField as string)
      : singletonFields(child),
  )
  const referring = referencesTo(resource, resources).filter(({ from }) => from.listed)
  return [
    ...owned,
    ...referring.flatMap(({ from, inverse, leaf }) => childLists(resource, from, inverse, leaf.column)),
  ]
}

function childLists(resource: Resource, child: Resource, relation: string, column: string): SchemaField[] {
  const name = camelCase(relation)
  const opening = {
    page: `"A page of the ${relation}." ${name}(`,
    connection: `"The ${relation}, paged by cursors." ${name}Connection(`,
  }
  return listFields(child, opening, ({ id }: Row) => ({ resource, id, column }))
}

function singletonFields(child: Resource): SchemaField[] {
  return [
    {
      sdl: `${described(child.description)}${camelCase(child.path)}: ${child.name}`,
      resolve: ({ id }: Row, _, { session }) => session.find(child, { parentId: id, id }),
    },
    {
      sdl: `"Whether it exists. Requires no additional scope." has${pascalCase(child.path)}: Boolean!`,
      resolve: ({ id }: Row, _, { session }) => session.exists(child, { parentId: id, id }),
    },
  ]
}

export function groupTypes(resource: Resource): (SchemaPart | string)[] {
  return Object.entries(resource.allFields).flatMap(([name, group]) => {
    if (group.type !== 'group') return []
    const type = groupType(resource, name)
    const members = Object.entries(group.fields).map(([member, field]) =>
      leafField(resource, member, field, `${name}_${member}`),
    )
    return [
      fieldsOf(type, `${described(group.description)}type ${type}`, members),
      ...groupFilter(resource, name),
    ]
  })
}

export function enumerations(resource: Resource): string[] {
  return resource.leaves.flatMap(({ column, field }) => {
    const valued = field.type === 'list' ? field.item : field
    if (valued.type !== 'enumeration') return []
    const type = groupType(resource, column)
    const filter = field === valued ? valueFilter(type, kindOf(valued).operators) : ''
    return `${described(valued.description)}enum ${type} { ${valued.values.join(' ')} } ${filter}`
  })
}

/** Each is nullable, so that one error does not affect the others. */
export function queries(resource: Resource, resources: readonly Resource[]): SchemaField[] {
  return [read(resource), ...(resource.listed ? lists(resource, resources) : []), aggregateQuery(resource)]
}

function read(resource: Resource): SchemaField {
  const keyOf = keyReader(resource)
  return {
    sdl: `"One resource of ${resource.path}. Fails with RESOURCE_NOT_FOUND or RESOURCE_GONE if there is none."
      ${graphNames(resource).read}(${addressArguments(resource)}): ${resource.name}`,
    resolve: (_, args, { session }) => session.read(resource, keyOf(args)),
  }
}

export function keyReader(resource: Resource): (args: Values) => ResourceKey {
  const parent = parentArgument(resource)
  const idArgument = resource.kind === 'singleton' ? (parent as string) : 'id'
  return (args) => ({ parentId: parent && (args[parent] as string), id: args[idArgument] as string })
}

/** The lists under an owner, under a target of references, or of the whole collection. */
function lists(resource: Resource, resources: readonly Resource[]): SchemaField[] {
  const { path, owner, parentField } = resource
  const { page, connection } = graphNames(resource)
  const nested = relationsOf(resource, resources).filter(({ leaf }) => leaf.field.nested)
  const parents = [
    ...(owner && parentField ? [{ parent: owner, column: parentField }] : []),
    ...nested.map(({ target, leaf: { column } }) => ({ parent: target, column })),
  ].map((one) => ({ ...one, argument: camelCase(one.column) }))
  const address = parents
    .map(
      ({ parent, argument }) =>
        `"Only items that belong to this ${noun(parent)}. It must exist." ${argument}: ID, `,
    )
    .join('')
  const opening = {
    page: `"A page of ${path}." ${page}(${address}`,
    connection: `"A part of ${path}, paged by cursors." ${connection}(${address}`,
  }
  return listFields(resource, opening, (_, args: Values) => {
    const entry = parents.find(({ argument }) => typeof args[argument] === 'string')
    return entry && { resource: entry.parent, id: args[entry.argument] as string, column: entry.column }
  })
}

/**
 * A list as pages and as a connection. Both are nullable, so that a missing scope for one does not affect others.
 *
 * @param opening the SDL of each up to the arguments that all lists have
 * @param parentOf finds the parent of the list; undefined for the whole collection
 */
function listFields<Source, Arguments>(
  resource: Resource,
  opening: Readonly<Record<'page' | 'connection', string>>,
  parentOf: (source: Source, args: Arguments) => Parent | undefined,
): SchemaField[] {
  const { pageType, connectionType } = graphNames(resource)
  return [
    {
      sdl: `${opening.page}${pageArguments(resource)}): ${pageType}`,
      lists: resource,
      resolve: (row, args, context, info) =>
        resolvePage({ resource, parent: parentOf(row, args) }, args, context, info),
    },
    {
      sdl: `${opening.connection}${connectionArguments(resource)}): ${connectionType}`,
      lists: resource,
      resolve: (row, args, context, info) =>
        resolveConnection({ resource, parent: parentOf(row, args) }, args, context, info),
    },
  ]
}
