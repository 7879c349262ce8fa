import { makeExecutableSchema } from '@graphql-tools/schema'
import {
  type DocumentNode,
  type GraphQLEnumType,
  GraphQLSchema,
  isEnumType,
  isObjectType,
  parse,
  specifiedScalarTypes,
} from 'graphql'
import type { ApiVersion } from '../../model/definition/domain.ts'
import type { Resource } from '../../model/definition/resource.ts'
import { DefinitionError } from '../../model/problems/definition-problems.ts'
import { aggregateTypes, GROUP_ORDER, TIME_UNIT } from './aggregates.ts'
import { connectionType, PAGE_INFO } from './connections.ts'
import { filterInputs, listFilters, valueFilters } from './filters.ts'
import { SORT_DIRECTION, sortTypes } from './lists.ts'
import { inputTypes, mutations, OUTCOMES, payloadType, versionType } from './mutations.ts'
import { NODE, nodeQueries } from './nodes.ts'
import { enumerations, groupTypes, objectType, queries } from './objects.ts'
import { pageType } from './pages.ts'
import { SCALARS } from './scalars.ts'
import { fieldsOf, type SchemaField, type SchemaPart } from './sdl.ts'

const DIRECTIVES = /* GraphQL */ `
"Runs all fields in one transaction, in order. If one fails, nothing is stored, and data is null."
directive @atomic on MUTATION
"Runs all fields in one transaction, with all checks and results, but stores nothing."
directive @dryRun on MUTATION`

/**
 * The executable GraphQL schema, for REST and for /graphql. It has the fields of all versions of the API.
 *
 * @throws {DefinitionError} if names clash in it
 */
export function createSchema(
  resources: readonly Resource[],
  versions: readonly ApiVersion[] = [],
  features: readonly { readonly schema?: readonly SchemaPart[] }[] = [],
): GraphQLSchema {
  const collections: SchemaField = {
    sdl: '"All top-level collections." collections: [Collection!]!',
    resolve: () => resources.filter(({ kind }) => kind === 'collection'),
  }
  try {
    const parts = [
      SCALARS,
      SORT_DIRECTION,
      GROUP_ORDER,
      TIME_UNIT,
      OUTCOMES,
      COLLECTION,
      PAGE_INFO,
      NODE,
      valueFilters(),
      listFilters(resources),
      ...(resources.some(({ hasApiVersions }) => hasApiVersions) ? [versionType(versions)] : []),
      fieldsOf('Query', '"Reads. Each field needs the read scope of its collection." type Query', [
        collections,
        ...nodeQueries(resources),
      ]),
      '"Writes. Each field needs the write scope of its collection." type Mutation',
      ...resources.flatMap((resource) => resourceParts(resource, resources)),
      DIRECTIVES,
      ...features.flatMap(({ schema = [] }) => schema),
    ]
    const typeDefs = parts.flatMap((part) => {
      const text = typeof part === 'string' ? part : part.typeDefs
      if (typeof text !== 'string') return text
      return text.trim() === '' ? [] : parse(text, { noLocation: true })
    })
    const repeated = repeatedNames(typeDefs, resources)
    if (repeated.length > 0) throw new Error(repeated.join('\n'))
    const whole = makeExecutableSchema({
      typeDefs,
      resolvers: parts.flatMap((part) => (typeof part === 'string' ? [] : [part.resolvers as never])),
      // Otherwise all types are made twice, which took a third of the time.
      updateResolversInPlace: true,
      noLocation: true,
    })
    const schema = reachablePart(whole)
    for (const type of Object.values(schema.getTypeMap())) if (isEnumType(type)) serializeStored(type)
    return schema
  } catch (cause) {
    const problems = (cause as Error).message.split(/\n+/).map((problem) => `GraphQL: ${problem}`)
    throw new DefinitionError(problems, undefined, { cause })
  }
}

/** Types of the same name would be merged. */
function repeatedNames(documents: readonly DocumentNode[], resources: readonly Resource[]): string[] {
  const known = new Set(specifiedScalarTypes.map(({ name }) => name))
  return documents.flatMap(({ definitions }) =>
    definitions.flatMap((definition) => {
      const type = ('name' in definition && definition.name?.value) || ''
      if (definition.kind.endsWith('Extension')) return []
      const { path } = resources.find(({ name }) => name === type) ?? {}
      const advice = path ? `choose another name for ${path}` : 'rename a resource or a field'
      const isNew = !known.has(type)
      known.add(type)
      return isNew ? [] : [`Several types would have the name ${type}: ${advice}.`]
    }),
  )
}

/** Without the types that no field needs, such as the filter of a kind that no field has. */
function reachablePart(schema: GraphQLSchema): GraphQLSchema {
  const { types, ...config } = schema.toConfig()
  const implementing = types.filter((type) => isObjectType(type) && type.getInterfaces().length > 0)
  const reached = new GraphQLSchema({ ...config, types: implementing }).getTypeMap()
  return new GraphQLSchema({ ...config, types: types.filter(({ name }) => name in reached) })
}

/** A row may have a value that is no longer in the definition. An error would take the whole page, where it is not null. */
function serializeStored(type: GraphQLEnumType): void {
  const isStored = type.getValues().every(({ name, value }) => name === value)
  if (isStored) type.serialize = (value) => value as string
}

const COLLECTION = /* GraphQL */ `
"A collection that the service serves."
type Collection {
  "Path segment, and first part of the scopes." path: String!
  "What the collection contains." description: String!
}`

/** SPEC §2. */
function resourceParts(resource: Resource, resources: readonly Resource[]): (SchemaPart | string)[] {
  const lists = resource.listed ? [...sortTypes(resource), pageType(resource), connectionType(resource)] : []
  return [
    objectType(resource, resources),
    ...groupTypes(resource),
    ...enumerations(resource),
    inputTypes(resource),
    filterInputs(resource, resources),
    ...lists,
    ...aggregateTypes(resource, resources),
    fieldsOf('Query', 'extend type Query', queries(resource, resources)),
    payloadType(resource),
    fieldsOf('Mutation', 'extend type Mutation', mutations(resource)),
  ]
}
