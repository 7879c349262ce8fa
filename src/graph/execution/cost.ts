import {
  type DocumentNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
} from 'graphql'
import {
  type ComplexityEstimator,
  type ComplexityEstimatorArgs,
  getComplexity,
} from 'graphql-query-complexity'
import type { TableSizes } from '../../domain/table-sizes.ts'
import { kindOf } from '../../model/fields.ts'
import { filterPasses } from '../../model/query/list.ts'
import { DEFAULT_PAGE_SIZE } from '../../model/query/query.ts'
import type { Resource, Values } from '../../model/resource.ts'
import { camelCase, graphNames, groupType } from '../names.ts'
import { toConditions } from '../schema/filters.ts'
import { introspectionSizes } from './introspection.ts'

export interface CostedOperation {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly variables: Readonly<Record<string, unknown>>
  readonly operationName?: string | undefined
}

/** One unit of cost is an object of a response, this many characters, or this many bytes of a table. */
const CHARACTERS_PER_UNIT = 250
const TABLE_BYTES_PER_UNIT = 32 * 1024

/** The memory of one unit of a response: few characters take more than three bytes in UTF-8. */
export const RESPONSE_BYTES_PER_UNIT = 3 * CHARACTERS_PER_UNIT

/** Fields and fragments that the estimate visits. A fragment counts each time it is spread. */
const MAXIMUM_NODES = 5_000

const CURSOR_CHARACTERS = 1_000
const NUMBER_CHARACTERS = 24
const NODE_ID_CHARACTERS = 220
const NODE_ID: [string, number] = ['Node.nodeId', NODE_ID_CHARACTERS]

/** Estimates the cost of operations before they run, from the lengths of fields and the sizes of tables. */
export class CostEstimator {
  readonly #resources: readonly Resource[]
  readonly #sizes: TableSizes
  /** The maximum length of a leaf in characters, by `Type.field`. */
  readonly #characters: ReadonlyMap<string, number>
  /** All operations are for one schema. */
  #introspection: ReadonlyMap<string, number> | undefined

  constructor(resources: readonly Resource[], sizes: TableSizes) {
    this.#sizes = sizes
    this.#characters = new Map([NODE_ID, ...resources.flatMap(characterCounts)])
    this.#resources = resources
  }

  /**
   * The cost of the largest possible response, in whole units: lists have the requested length, texts their maximum
   * length, and introspection the average lengths of the schema. Infinity for too many nodes or invalid variables.
   */
  response(operation: CostedOperation): number {
    return this.#walk(operation, () => {})
  }

  /**
   * The cost of the response, and the total with the tables that filters, sorts and aggregates scan. A statement costs
   * at most `limit`, since its time is limited too.
   */
  async all(operation: CostedOperation, limit: number): Promise<{ response: number; total: number }> {
    const tables = new Map<Resource, number>()
    for (const resource of this.#resources) {
      tables.set(resource, (await this.#sizes.of(resource)) / TABLE_BYTES_PER_UNIT)
    }
    let scans = 0
    const response = this.#walk(operation, ({ field, args }) => {
      const resource = field.extensions['lists'] as Resource | undefined
      if (!resource) return
      scans += Math.min(passesOf(resource, field, args) * (tables.get(resource) as number), limit)
    })
    return { response, total: Math.ceil(response + scans) }
  }

  #walk(operation: CostedOperation, visit: (field: ComplexityEstimatorArgs) => void): number {
    this.#introspection ??= introspectionSizes(operation.schema)
    const introspection = this.#introspection
    const cost = total(operation, (node) => {
      visit(node)
      const { type, field, args, childComplexity } = node
      const name = `${type.name}.${field.name}`
      if (!isCompositeType(getNamedType(field.type))) {
        return (this.#characters.get(name) ?? NUMBER_CHARACTERS) / CHARACTERS_PER_UNIT
      }
      const size = introspection.get(name)
      return size === undefined ? 1 + sizeOf(field, args) * childComplexity : size * (1 + childComplexity)
    })
    return Math.ceil(cost)
  }
}

function total(
  { schema, document, variables, operationName }: CostedOperation,
  estimator: ComplexityEstimator,
) {
  try {
    return getComplexity({
      schema,
      query: document,
      variables,
      ...(operationName !== undefined && { operationName }),
      estimators: [estimator],
      maxQueryNodes: MAXIMUM_NODES,
    })
  } catch (error) {
    // The document is valid, so there are too many nodes, or the variables do not fit.
    if (error instanceof GraphQLError) return Number.POSITIVE_INFINITY
    throw error
  }
}

type Arguments = Readonly<Record<string, unknown>>

/** The number of objects in a field; for a list, its maximum length. */
function sizeOf(field: GraphQLField<unknown, unknown>, args: Arguments): number {
  if (Array.isArray(args['nodeIds'])) return args['nodeIds'].length
  if (!field.args.some(({ name }) => name === 'limit' || name === 'first')) return 1
  return Math.max(Number(args['limit'] ?? args['first'] ?? args['last'] ?? DEFAULT_PAGE_SIZE), 1)
}

/** Aggregates read every row. So do filtered or sorted lists without a suitable index. */
function passesOf(
  resource: Resource,
  field: GraphQLField<unknown, unknown>,
  { filter, sort }: Arguments,
): number {
  if (filter) return filterPasses(toConditions(resource, filter as Values))
  const isAggregate = field.args.some(({ name }) => name === 'groupBy')
  return isAggregate || ((sort as unknown[]) ?? []).length > 0 ? 1 : 0
}

function characterCounts(resource: Resource): [string, number][] {
  const names = graphNames(resource)
  const leaves = resource.leaves.flatMap(({ path, column, field }): [string, number][] => {
    const [outer, inner] = path as [string, string?]
    const type = inner === undefined ? names.type : groupType(resource, outer)
    const count = kindOf(field).characters(field)
    return [
      [`${type}.${camelCase(inner ?? outer)}`, count],
      [`${names.groupKey}.${camelCase(column)}`, count],
    ]
  })
  const cursors = [`${names.pageType}.nextCursor`, `${names.pageType}.previousCursor`, `${names.edge}.cursor`]
  return [
    [`${names.type}.nodeId`, NODE_ID_CHARACTERS],
    ...leaves,
    ...cursors.map((name): [string, number] => [name, CURSOR_CHARACTERS]),
  ]
}
