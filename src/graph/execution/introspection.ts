import {
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql'

/** Most types are named with one `ofType` or none. */
const WRAPPED_TYPES = 0.5

/** A larger schema counts as this one, so that its introspection is within the default limit. */
const MOST_TYPES = 500

/**
 * The average number of objects in each introspection field of a schema, by `Type.field`. A type requested by name
 * counts like the type with the most fields.
 */
export function introspectionSizes(schema: GraphQLSchema): ReadonlyMap<string, number> {
  const types = Object.values(schema.getTypeMap())
  const fields = types.flatMap(fieldsOf)
  const average = (count: (type: GraphQLNamedType) => number) => sum(types.map(count)) / types.length
  const largest = Math.max(...types.map((type) => fieldsOf(type).length))
  const oneType = largest / (fields.length / types.length)
  return new Map([
    ['Query.__type', oneType],
    ['__Schema.queryType', oneType],
    ['__Schema.mutationType', oneType],
    ['__Schema.types', Math.min(types.length, MOST_TYPES)],
    ['__Schema.directives', schema.getDirectives().length],
    ['__Type.fields', fields.length / types.length],
    ['__Type.inputFields', average((type) => (isInputObjectType(type) ? size(type.getFields()) : 0))],
    ['__Type.enumValues', average((type) => (isEnumType(type) ? type.getValues().length : 0))],
    ['__Type.interfaces', average((type) => (hasFields(type) ? type.getInterfaces().length : 0))],
    [
      '__Type.possibleTypes',
      average((type) => (isAbstractType(type) ? schema.getPossibleTypes(type).length : 0)),
    ],
    ['__Type.ofType', WRAPPED_TYPES],
    ['__Field.args', sum(fields.map(({ args }) => args.length)) / fields.length],
  ])
}

function fieldsOf(type: GraphQLNamedType) {
  return hasFields(type) ? Object.values(type.getFields()) : []
}

function hasFields(type: GraphQLNamedType) {
  return isObjectType(type) || isInterfaceType(type)
}

function size(fields: object): number {
  return Object.keys(fields).length
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
