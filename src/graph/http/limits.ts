import type { GraphQLRequestContextDidResolveOperation, GraphQLResponse } from '@apollo/server'
import {
  type DocumentNode,
  type FieldNode,
  type FragmentSpreadNode,
  GraphQLError,
  type GraphQLSchema,
  type InlineFragmentNode,
  Kind,
  parse,
  type SelectionSetNode,
  type ValidationRule,
  validate,
  visit,
} from 'graphql'
import { Limiter } from '../../http/limiter.ts'
import { errorAt } from '../../model/errors.ts'
import type { GraphContext } from '../execution/context.ts'
import { type CostEstimator, RESPONSE_BYTES_PER_UNIT } from '../execution/cost.ts'
import { refusal } from '../execution/errors.ts'
import { transactionMode } from '../execution/transaction.ts'

export interface DocumentLimits {
  readonly depth: number
  /** One unit is an object, 250 characters of the response, or 32 KiB of a scanned table. */
  readonly cost: number
}

/** Operations written by people are shorter. */
export const MAXIMUM_TOKENS = 2000
const MAXIMUM_ALIASES = 30
/** Writes of one transaction, which keeps its connection and its locks until it ends. */
export const MAXIMUM_WRITES = 100
const MAXIMUM_DIRECTIVES = 20
/** Validation stops after this many errors: searching for similar names takes time. */
export const MAXIMUM_VALIDATION_ERRORS = 5
export const MAXIMUM_DOCUMENT_BYTES = 32 * 1024

export function limitRules({ depth }: DocumentLimits): ValidationRule[] {
  return [
    limit('aliases', MAXIMUM_ALIASES, countAliases),
    limit('fields in one transaction', MAXIMUM_WRITES, countWritesTogether),
    limit('directives', MAXIMUM_DIRECTIVES, countDirectives),
    limit('levels of fields', depth, depthOf),
    limit('fields __schema or __type', 1, countIntrospections),
  ]
}

const unconditionalSubscriptions: ValidationRule = (context) => {
  const check = (node: FieldNode | FragmentSpreadNode | InlineFragmentNode) => {
    const isConditional = node.directives?.some(({ name }) => ['skip', 'include'].includes(name.value))
    if (!isConditional || context.getParentType() !== context.getSchema().getSubscriptionType()) return
    context.reportError(new GraphQLError('The field of a subscription must not have @skip or @include.'))
  }
  return { Field: check, FragmentSpread: check, InlineFragment: check }
}

/**
 * Refuses a document with a conditional field of a subscription (GraphQL specification §5.2.4.1). It is not a rule among
 * the others, because one of graphql-js throws for variables there.
 *
 * @throws {DomainError} VALIDATION_FAILED (400)
 */
export function refuseConditionalSubscription(schema: GraphQLSchema, text: string): void {
  if (!text.includes('subscription') || !text.includes('@')) return
  let document: DocumentNode
  try {
    document = parse(text, { maxTokens: MAXIMUM_TOKENS })
  } catch {
    // Apollo reports what is no document.
    return
  }
  const [problem] = validate(schema, document, [unconditionalSubscriptions])
  if (problem) throw errorAt('query', 'INVALID_VALUE', 'VALIDATION_FAILED', problem.message)
}

/** One statement counts for at most this part of the allowed cost. */
const STATEMENT_PART = 0.1

type Request = GraphQLRequestContextDidResolveOperation<GraphContext>

/** Refuses an operation that may cost more than the limit. Others wait for the memory of their response. */
export async function admitCost(
  { document, request, contextValue }: Request,
  { cost: maximum }: DocumentLimits,
  estimator: CostEstimator,
): Promise<void> {
  const { variables = {}, operationName } = request
  const operation = { document, variables, operationName }
  const { response, total } = await estimator.all(operation, maximum * STATEMENT_PART)
  const found = Number.isFinite(total) ? total : 'far more'
  const message = `The operation could cost ${found}; the limit is ${maximum}. Request smaller lists, shorter fields, or fewer filters, sorts and aggregates.`
  if (total > maximum) throw refused(message)
  await contextValue.slot.reserve(response * RESPONSE_BYTES_PER_UNIT)
}

/** After an introspection, the next waits this many times its duration, but at most a second. */
const REST = 9
const LONGEST_REST_MILLISECONDS = 1_000

/**
 * Makes the function that waits for the turn of an introspection, and returns what to call at its end. One runs at a
 * time, callers in turn, and for at most a tenth of the time. Each blocks the event loop for 50 ms; tools need it once.
 */
export function introspectionTurns() {
  const limiter = new Limiter({ capacity: 1, share: 1 })
  return async ({ document, contextValue: { caller, slot } }: Request): Promise<() => void> => {
    if (countIntrospections(document) === 0) return () => {}
    const release = await limiter.acquire(caller.identity, 1, slot)
    const started = performance.now()
    return () => {
      const rest = Math.min(REST * (performance.now() - started), LONGEST_REST_MILLISECONDS)
      setTimeout(release, rest).unref()
    }
  }
}

/** A list of a thousand resources can have an error for each. */
const MAXIMUM_ERRORS = 100

/** Omits errors beyond the first 100 from a response, and counts them in `extensions`. */
export function limitErrors({ body }: GraphQLResponse): void {
  if (body.kind !== 'single') return
  const { errors = [], extensions } = body.singleResult
  if (errors.length <= MAXIMUM_ERRORS) return
  body.singleResult.errors = errors.slice(0, MAXIMUM_ERRORS)
  body.singleResult.extensions = { ...extensions, omittedErrors: errors.length - MAXIMUM_ERRORS }
}

function refused(message: string): GraphQLError {
  return refusal(errorAt('query', 'LIMIT_EXCEEDED', 'VALIDATION_FAILED', message))
}

function limit(what: string, maximum: number, count: (document: DocumentNode) => number): ValidationRule {
  return (context) => ({
    Document(document) {
      const found = count(document)
      if (found <= maximum) return
      const isAre = maximum === 1 ? 'is' : 'are'
      context.reportError(refused(`The document has ${found} ${what}; ${maximum} ${isAre} allowed.`))
    },
  })
}

/** In a transaction, fields have a limit of their own. */
function countAliases(document: DocumentNode): number {
  let count = 0
  visit(document, { Field: ({ alias }) => void (alias && count++) })
  return count - countWritesTogether(document)
}

function countDirectives(document: DocumentNode): number {
  let count = 0
  visit(document, { Directive: () => void count++ })
  return count
}

function countWritesTogether(document: DocumentNode): number {
  const isTogether = document.definitions.some(
    (one) => one.kind === Kind.OPERATION_DEFINITION && transactionMode(one),
  )
  return isTogether ? measure(document, () => 1, sum) : 0
}

/**
 * The levels of fields, with fragments expanded. Introspection does not count: GraphQL's own rules limit it, and the
 * usual query is deeper than any other.
 */
function depthOf(document: DocumentNode): number {
  return measure(
    document,
    (name, inner) => (isIntrospection(name) ? 1 : 1 + inner),
    (parts) => Math.max(0, ...parts),
  )
}

/** Each searches the whole schema and sends most of it. */
function countIntrospections(document: DocumentNode): number {
  return measure(document, (name, inner) => (isIntrospection(name) ? 1 : inner), sum)
}

function sum(parts: readonly number[]): number {
  return parts.reduce((total, part) => total + part, 0)
}

function isIntrospection(name: string): boolean {
  return name === '__schema' || name === '__type'
}

/** Combines the fields of all operations, with fragments expanded. Visits each fragment once. */
function measure(
  { definitions }: DocumentNode,
  ofField: (name: string, inner: number) => number,
  combine: (parts: readonly number[]) => number,
): number {
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
  const known = new Map<string, number>()
  const ofFragment = (name: string): number => {
    const seen = known.get(name)
    if (seen !== undefined) return seen
    // Another rule refuses a fragment that spreads itself. This only ends the recursion.
    known.set(name, 0)
    const total = ofSelections(fragments.find((fragment) => fragment.name.value === name)?.selectionSet)
    known.set(name, total)
    return total
  }
  const ofSelections = (set: SelectionSetNode | undefined): number =>
    combine(
      (set?.selections ?? []).map((selection) => {
        if (selection.kind === Kind.FRAGMENT_SPREAD) return ofFragment(selection.name.value)
        const inner = ofSelections(selection.selectionSet)
        return selection.kind === Kind.INLINE_FRAGMENT ? inner : ofField(selection.name.value, inner)
      }),
    )
  const operations = definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
  return combine(operations.map(({ selectionSet }) => ofSelections(selectionSet)))
}
