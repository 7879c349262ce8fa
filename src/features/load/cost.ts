import {
  type DocumentNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
} from 'graphql'
import {
  type ComplexityEstimator,
  type ComplexityEstimatorArgs,
  getComplexity,
} from 'graphql-query-complexity'
import { camelCase, graphNames, groupType, parentArgument } from '../../graph/names.ts'
import { DEFAULT_GROUPS } from '../../graph/schema/aggregates.ts'
import { filterFrom } from '../../graph/schema/filters.ts'
import { kindOf } from '../../model/definition/fields.ts'
import type { Resource, Values } from '../../model/definition/resource.ts'
import { NUMBER_CHARACTERS } from '../../model/kinds/kind.ts'
import { type Measure, measurePasses } from '../../model/query/aggregate.ts'
import { filterPasses, type Scan, scansOf } from '../../model/query/list.ts'
import { DEFAULT_PAGE_SIZE } from '../../model/query/query.ts'
import { scannedBytes, type TableSizes } from './table-sizes.ts'

interface CostedOperation {
  readonly document: DocumentNode
  readonly variables: Values
  readonly operationName?: string | undefined
}

/** One unit of cost is an object of a response, this many characters, or this many bytes of a table. */
export const CHARACTERS_PER_UNIT = 250
const TABLE_BYTES_PER_UNIT = 32 * 1024

/** The cost of a page of changes, which a stream keeps in memory until its client has read it. */
const PAGE_COST = 2_000

/** How many changes a page of a stream has at most, if the longest one has this cost. */
export function changesPerPage(cost: number): number {
  return Math.max(1, Math.floor(PAGE_COST / cost))
}

/** Maximum of fields and fragments. A fragment counts each time it is spread. Visiting a thousand takes a millisecond. */
export const MAXIMUM_NODES = 5_000

const CURSORS = ['cursor', 'nextCursor', 'previousCursor', 'startCursor', 'endCursor']

/** The longest subject of a token. */
const SUBJECT_CHARACTERS = 2_000

/** The maximum lengths of fields that no definition has. */
const COMMON_CHARACTERS: readonly [string, number][] = [
  ...CURSORS.map((name): [string, number] => [name, 1_000]),
  ['nodeId', 220],
  ['RecordedChange.cursor', NUMBER_CHARACTERS],
  ['changedBy', SUBJECT_CHARACTERS],
  ['RecordedChange.by', SUBJECT_CHARACTERS],
  // A version may come with its deletion.
  ['RecordedVersion.by', 2 * SUBJECT_CHARACTERS],
]

/** Most types have at most one `ofType`. */
const WRAPPED_TYPES = 0.5

/** As tools send it. */
const INTROSPECTION = getIntrospectionQuery({
  schemaDescription: true,
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  inputValueDeprecation: true,
  oneOf: true,
})

/** Estimates the cost of operations before they run, from the lengths of fields and the sizes of tables. */
export class CostEstimator {
  /** The maximum length of a leaf in characters, by `Type.field` or its name. */
  readonly #characters: ReadonlyMap<string, number>
  readonly #introspection: ReadonlyMap<string, number>
  /** The cost of the longest change in the feed. */
  readonly change: number
  #ofTools: number | undefined

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly resources: readonly Resource[],
    private readonly sizes: TableSizes,
  ) {
    const counts = resources.map(characterCounts)
    const whole = counts.map((leaves) => leaves.reduce((sum, [, count]) => sum + count / 2, 0))
    const longest = Math.max(...whole)
    this.#characters = new Map([
      ...COMMON_CHARACTERS,
      ['RecordedChange.resource', longest],
      ['RecordedVersion.resource', longest],
      ...counts.flat(),
    ])
    this.change = Math.ceil(1 + (longest + SUBJECT_CHARACTERS) / CHARACTERS_PER_UNIT)
    this.#introspection = introspectionSizes(schema)
  }

  /**
   * The cost of the largest possible response, in whole units. Lists have the requested length, texts their maximum
   * length, and introspection the average lengths of the schema. Infinity for too many nodes, 0 for invalid variables.
   */
  response(operation: CostedOperation): number {
    return this.#walk(operation, () => {})
  }

  /** The cost of what tools ask of the schema, which depends on nothing else. */
  introspection(): number {
    this.#ofTools ??= this.response({ document: parse(INTROSPECTION), variables: {} })
    return this.#ofTools
  }

  /**
   * The cost of the response, and the total including the tables that filters, sorts and aggregates scan. A statement
   * costs at most `limit`, since its time is limited too.
   */
  async all(operation: CostedOperation, limit: number): Promise<{ response: number; total: number }> {
    const statements: (readonly Scan[])[] = []
    const response = this.#walk(operation, (node) => {
      const { field, args } = node
      const resource = field.extensions['lists'] as Resource | undefined
      const scans = resource ? scansOfField(resource, node, this.resources) : []
      statements.push(scans, ...(typeof args['unlessRevision'] === 'string' ? [scans] : []))
    })
    let total = response
    for (const scans of statements) {
      total += Math.min((await scannedBytes(this.sizes, scans)) / TABLE_BYTES_PER_UNIT, limit)
    }
    return { response, total: Math.ceil(total) }
  }

  #walk(
    { document: query, variables, operationName }: CostedOperation,
    visit: (field: ComplexityEstimatorArgs) => void,
  ): number {
    const estimate: ComplexityEstimator = (node) => {
      visit(node)
      const { type, field, args, childComplexity } = node
      const name = `${type.name}.${field.name}`
      if (!isCompositeType(getNamedType(field.type))) {
        const count = this.#characters.get(name) ?? this.#characters.get(field.name) ?? NUMBER_CHARACTERS
        return count / CHARACTERS_PER_UNIT
      }
      const size = this.#introspection.get(`${name}(${args['name']})`) ?? this.#introspection.get(name)
      return size === undefined ? 1 + sizeOf(field, args) * childComplexity : size * (1 + childComplexity)
    }
    const operation = { query, variables, ...(operationName !== undefined && { operationName }) }
    const limits = { estimators: [estimate], maxQueryNodes: MAXIMUM_NODES }
    try {
      return Math.ceil(getComplexity({ schema: this.schema, ...operation, ...limits }))
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error
      const [node] = error.nodes ?? []
      // Execution refuses variables that do not fit, in more detail.
      if (node?.kind === Kind.VARIABLE_DEFINITION) return 0
      if (node) throw error
      return Number.POSITIVE_INFINITY
    }
  }
}

/** The number of objects in a field; for a list, its maximum length. */
function sizeOf(field: GraphQLField<unknown, unknown>, args: Values): number {
  if (Array.isArray(args['nodeIds'])) return args['nodeIds'].length
  if (!field.args.some(({ name }) => name === 'limit' || name === 'first')) return 1
  const usual = field.args.some(({ name }) => name === 'groupBy') ? DEFAULT_GROUPS : DEFAULT_PAGE_SIZE
  return Math.max(Number(args['limit'] ?? args['first'] ?? args['last'] ?? usual), 1)
}

/** Aggregates read every row, as do lists across parents, and filtered or sorted lists without a suitable index. */
function scansOfField(
  resource: Resource,
  { field, args, childComplexity }: ComplexityEstimatorArgs,
  resources: readonly Resource[],
): readonly Scan[] {
  if (field.args.length === 0) {
    const columns = Math.round((childComplexity * CHARACTERS_PER_UNIT) / NUMBER_CHARACTERS)
    return [[resource, columns * measurePasses(field.name as Measure)]]
  }
  const filter = filterFrom(resource, args, resources)
  const isAggregate = field.args.some(({ name }) => name === 'groupBy')
  const isSorted = ((args['sort'] as unknown[]) ?? []).length > 0
  const parent = parentArgument(resource)
  const isAcross = field.args.some(({ name }) => name === parent && typeof args[name] !== 'string')
  const isScan = filter || isAggregate || isSorted || isAcross
  return scansOf(resource, isScan ? filterPasses(filter) : 0, filter)
}

function characterCounts(resource: Resource): [string, number][] {
  const { groupKey } = graphNames(resource)
  return resource.leaves.flatMap(({ path, column, field }): [string, number][] => {
    const [outer, inner] = path as [string, string?]
    const type = inner === undefined ? resource.name : groupType(resource, outer)
    const count = kindOf(field).characters?.(field) ?? NUMBER_CHARACTERS
    return [
      [`${type}.${camelCase(inner ?? outer)}`, count],
      [`${groupKey}.${camelCase(column)}`, count],
    ]
  })
}

/**
 * The average number of objects in each introspection field of a schema, by `Type.field`. A type requested by name
 * counts like the type with the most fields, or by the number of its possible types.
 */
function introspectionSizes(schema: GraphQLSchema): ReadonlyMap<string, number> {
  const types = Object.values(schema.getTypeMap())
  const average = (members: (type: GraphQLNamedType) => readonly unknown[]) =>
    types.flatMap(members).length / types.length
  const hasFields = (type: GraphQLNamedType) => isObjectType(type) || isInterfaceType(type)
  const fieldsOf = (type: GraphQLNamedType) => (hasFields(type) ? Object.values(type.getFields()) : [])
  const inputsOf = (type: GraphQLNamedType) =>
    isInputObjectType(type) ? Object.values(type.getFields()) : []
  const [inputs, fields] = [types.flatMap(inputsOf), types.flatMap(fieldsOf)]
  const oneType = Math.max(...types.map((type) => fieldsOf(type).length)) / average(fieldsOf)
  const possibleTypesOf = (type: GraphQLNamedType) =>
    isAbstractType(type) ? schema.getPossibleTypes(type) : []
  const abstract = types.filter(isAbstractType).map((type): [string, number] => {
    const possible = possibleTypesOf(type).length / average(possibleTypesOf)
    return [`Query.__type(${type.name})`, Math.max(oneType, possible)]
  })
  return new Map([
    ['Query.__type', oneType],
    ['__Schema.queryType', oneType],
    ['__Schema.mutationType', oneType],
    ['__Schema.subscriptionType', oneType],
    ['__Schema.types', types.length],
    ['__Schema.directives', schema.getDirectives().length],
    ['__Type.fields', average(fieldsOf)],
    // The types of members, such as filters, have more members than the average type.
    ['__Type.inputFields', inputs.flatMap(({ type }) => inputsOf(getNamedType(type))).length / inputs.length],
    ['__Type.enumValues', average((type) => (isEnumType(type) ? type.getValues() : []))],
    ['__Type.interfaces', average((type) => (hasFields(type) ? type.getInterfaces() : []))],
    ['__Type.possibleTypes', average(possibleTypesOf)],
    ...abstract,
    ['__Type.ofType', WRAPPED_TYPES],
    ['__Field.args', fields.flatMap(({ args }) => args).length / fields.length],
  ])
}
