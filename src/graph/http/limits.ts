import type { ApolloServerPlugin } from '@apollo/server'
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  getVariableValues,
  isCompositeType,
  Kind,
  type SelectionSetNode,
  type ValidationRule,
  visit,
} from 'graphql'
import { type ComplexityEstimator, getComplexity } from 'graphql-query-complexity'
import { DomainError, type ErrorCode } from '../../domain/errors.ts'
import { DEFAULT_SIZE } from '../list-requests.ts'

/** What an operation may be made of, at most. */
export interface OperationLimits {
  /** Levels of fields. */
  readonly depth: number
  /** Objects that the answer could hold, with the sizes of its lists taken as they were asked for. */
  readonly cost: number
}

/** Tokens of a document; more than the longest operation that people write. */
export const MAXIMUM_TOKENS = 2000
export const MAXIMUM_ALIASES = 30
export const MAXIMUM_DIRECTIVES = 20
/** Bytes of a document. */
export const MAXIMUM_DOCUMENT_BYTES = 32 * 1024

/** Fields and fragments that are looked at for the cost, fragments as often as they are spread. */
const MAXIMUM_NODES = 5000

/** The rules that a document must meet besides those of GraphQL itself. */
export function limitRules({ depth }: OperationLimits): ValidationRule[] {
  return [
    limit('aliases', MAXIMUM_ALIASES, countAliases),
    limit('directives', MAXIMUM_DIRECTIVES, countDirectives),
    limit('levels of fields', depth, depthOf),
  ]
}

/**
 * Refuses operations whose answer could hold more objects than the limit. A list counts as many times
 * as its `limit`, `first` or `last` says, whatever there is to list.
 */
export function costLimit<Context extends object>({
  cost: maximum,
}: OperationLimits): ApolloServerPlugin<Context> {
  return {
    requestDidStart: async () => ({
      didResolveOperation: async ({ schema, document, request }) => {
        const { variables = {}, operationName } = request
        if (!hasValidVariables(schema, document, variables, operationName)) return
        const cost = costOf(schema, document, variables, operationName)
        if (cost <= maximum) return
        const found = cost === Infinity ? 'far more' : String(cost)
        throw refused(
          `The answer could hold ${found} objects; ${maximum} are allowed. Ask for smaller lists.`,
        )
      },
    }),
  }
}

/** Errors in one response; a list of a thousand resources can have one for each. */
const MAXIMUM_ERRORS = 100

/** Leaves the errors beyond the first 100 out of a response, and counts them in its `extensions`. */
export function errorLimit<Context extends object>(): ApolloServerPlugin<Context> {
  return {
    requestDidStart: async () => ({
      willSendResponse: async ({ response: { body } }) => {
        if (body.kind !== 'single') return
        const { errors = [], extensions } = body.singleResult
        if (errors.length <= MAXIMUM_ERRORS) return
        body.singleResult.errors = errors.slice(0, MAXIMUM_ERRORS)
        body.singleResult.extensions = { ...extensions, omittedErrors: errors.length - MAXIMUM_ERRORS }
      },
    }),
  }
}

/** The same as an error for GraphQL, with the status of a bad request. */
export function refused(message: string, code: ErrorCode = 'VALIDATION_FAILED'): GraphQLError {
  const details = [{ field: 'query', code: 'LIMIT_EXCEEDED', message }] as const
  return new GraphQLError(message, {
    originalError: new DomainError(code, message, details),
    extensions: { http: { status: 400 } },
  })
}

function limit(what: string, maximum: number, count: (document: DocumentNode) => number): ValidationRule {
  return (context) => ({
    Document(document) {
      const found = count(document)
      if (found <= maximum) return
      context.reportError(refused(`The document has ${found} ${what}; ${maximum} are allowed.`))
    },
  })
}

function countAliases(document: DocumentNode): number {
  let count = 0
  visit(document, { Field: ({ alias }) => void (alias && count++) })
  return count
}

function countDirectives(document: DocumentNode): number {
  let count = 0
  visit(document, { Directive: () => void count++ })
  return count
}

/**
 * The levels of fields, those of fragments counted where they are spread. Introspection is left out: the
 * rules of GraphQL limit it, and its usual query is deeper than any other.
 */
function depthOf({ definitions }: DocumentNode): number {
  const fragments = new Map(
    definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition.selectionSet]] : [],
    ),
  )
  const known = new Map<string, number>()
  const ofFragment = (name: string): number => {
    const seen = known.get(name)
    if (seen !== undefined) return seen
    // A fragment that spreads itself is refused by another rule; here it only must come to an end.
    known.set(name, 0)
    known.set(name, ofSelections(fragments.get(name)))
    return known.get(name) as number
  }
  const ofSelections = (set: SelectionSetNode | undefined): number =>
    Math.max(
      0,
      ...(set?.selections ?? []).map((selection) => {
        if (selection.kind === Kind.FRAGMENT_SPREAD) return ofFragment(selection.name.value)
        if (selection.kind === Kind.INLINE_FRAGMENT) return ofSelections(selection.selectionSet)
        return selection.name.value.startsWith('__') ? 1 : 1 + ofSelections(selection.selectionSet)
      }),
    )
  const operations = definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION)
  return Math.max(
    0,
    ...operations.map((operation) =>
      ofSelections((operation as { selectionSet: SelectionSetNode }).selectionSet),
    ),
  )
}

/** An object counts once, and all that a list of it holds as often as the list is long at most. */
const objects: ComplexityEstimator = ({ field, args, childComplexity }) => {
  if (!isCompositeType(getNamedType(field.type))) return 0
  const isSized = field.args.some(({ name }) => name === 'limit' || name === 'first')
  const size = Number(args['limit'] ?? args['first'] ?? args['last'] ?? DEFAULT_SIZE)
  return 1 + (isSized ? Math.max(size, 1) : 1) * childComplexity
}

function costOf(
  schema: GraphQLSchema,
  query: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
  operationName: string | undefined,
): number {
  try {
    return getComplexity({
      schema,
      query,
      variables,
      ...(operationName !== undefined && { operationName }),
      estimators: [objects],
      maxQueryNodes: MAXIMUM_NODES,
    })
  } catch (error) {
    // The document is valid and so are the variables: it can only be too much to look at.
    if (error instanceof GraphQLError) return Infinity
    throw error
  }
}

/** What is wrong with variables, execution says better. */
function hasValidVariables(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
  operationName: string | undefined,
): boolean {
  const definitions = getOperationAST(document, operationName)?.variableDefinitions ?? []
  return getVariableValues(schema, definitions, variables, { maxErrors: 1 }).errors === undefined
}
