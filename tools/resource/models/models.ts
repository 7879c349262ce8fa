import { fixedInitial, kindOf } from '../../../src/model/definition/fields.ts'
import type { Resource } from '../../../src/model/definition/resource.ts'
import { uniqueExpression, uniqueLeaves } from '../../../src/model/definition/uniqueness.ts'
import { type Column, makeTable } from '../tables/table.ts'
import { makeRelations, type Relation } from './relations.ts'

/** A line of a model: the name of a field, its type and its attributes. */
export type ModelField = readonly [name: string, type: string, attributes: string]

export interface Model {
  readonly name: string
  readonly columns: readonly ModelField[]
  readonly relations: readonly ModelField[]
  /** Without `@@`. */
  readonly attributes: readonly string[]
}

export function makeModel(resource: Resource, resources: readonly Resource[]): Model {
  const table = makeTable(resource)
  const { parentField, name } = resource
  return {
    name,
    columns: table.columns.map((column) => fieldOf(resource, column)),
    relations: makeRelations(resource, resources).map(relationField),
    attributes: [
      ...(parentField ? [`id([${parentField}, id])`] : []),
      ...uniqueAttributes(resource),
      ...table.indexes.flatMap(({ attribute }) => attribute ?? []),
      `map("${table.name}")`,
    ],
  }
}

function fieldOf({ kind, parentField }: Resource, column: Column): ModelField {
  const { name, notNull, leaf } = column
  const stored = leaf && kindOf(leaf.field)
  const attributes = [
    ...(name === 'id' && !parentField ? ['@id'] : []),
    ...(name === parentField && kind === 'singleton' ? ['@unique'] : []),
    ...(column.default ? [`@default(${defaultOf(column)})`] : []),
    ...(leaf && stored?.prismaAttribute ? [stored.prismaAttribute(leaf.field)] : []),
  ]
  const type = stored?.prismaType ?? (column.type === 'INTEGER' ? 'Int' : 'String')
  return [name, `${type}${notNull ? '' : '?'}`, attributes.join(' ')]
}

/** The default as Prisma writes it: a literal for an initial value. */
function defaultOf({ default: expression, leaf }: Column): string {
  const initial = leaf && fixedInitial(leaf.field)
  if (!leaf || initial === undefined) return expression === '1' ? '1' : `dbgenerated("${expression}")`
  const { check, isJson } = kindOf(leaf.field)
  const checked = check(leaf.field, initial)
  const text = JSON.stringify('value' in checked ? checked.value : null)
  return isJson ? JSON.stringify(text) : text
}

function relationField(relation: Relation): ModelField {
  const { name, model, label, column, isRequired, isList, onDelete } = relation
  const named = label === undefined ? [] : [`name: "${label}"`]
  if (column === undefined)
    return [name, `${model}${isList ? '[]' : '?'}`, label === undefined ? '' : `@relation(${named})`]
  const parameters = [...named, `fields: [${column}]`, 'references: [id]', `onDelete: ${onDelete}`]
  return [name, `${model}${isRequired ? '' : '?'}`, `@relation(${parameters.join(', ')})`]
}

/** A Prisma schema cannot declare unique indexes on expressions. */
function uniqueAttributes(resource: Resource): string[] {
  return resource.leaves.flatMap((leaf) => {
    const key = uniqueLeaves(resource, leaf) ?? []
    const isPlain = key.every((one) => uniqueExpression(resource, one, one.column) === one.column)
    return key.length > 0 && isPlain ? [`unique([${key.map(({ column }) => column).join(', ')}])`] : []
  })
}
