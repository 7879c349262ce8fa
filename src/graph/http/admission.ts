import type { GraphQLRequestContextDidResolveOperation, GraphQLResponse } from '@apollo/server'
import { GraphQLError, type GraphQLSchema, getVariableValues, type OperationDefinitionNode } from 'graphql'
import { EVENT_STREAM } from '../../http/content/event-stream.ts'
import { Limiter } from '../../http/limiter.ts'
import { DomainError } from '../../model/errors.ts'
import type { Values } from '../../model/resource.ts'
import type { GraphContext } from '../execution/context.ts'
import { type CostEstimator, RESPONSE_BYTES_PER_UNIT } from '../execution/cost.ts'
import { refusal } from '../execution/errors.ts'
import { MAXIMUM_VARIABLE_ERRORS } from '../execution/operation.ts'
import { countIntrospections } from './document-measures.ts'
import { type DocumentLimits, refused } from './limits.ts'

/** One statement counts for at most this part of the allowed cost. */
const STATEMENT_PART = 0.1

type Request = GraphQLRequestContextDidResolveOperation<GraphContext>

export function refuseWithoutEvents({ operation, contextValue }: Request): void {
  if (operation?.operation !== 'subscription' || contextValue.subscriber) return
  const message = `A subscription needs the header Accept: ${EVENT_STREAM}.`
  throw refusal(new DomainError('NOT_ACCEPTABLE', message))
}

const LONGEST_MESSAGE = 500

/**
 * The first errors of variables that do not fit. Each takes time, for similar names, and names the value, which may be
 * large.
 */
export function variableErrors(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Values = {},
  hideSuggestions: boolean,
): readonly GraphQLError[] | undefined {
  const options = { maxErrors: MAXIMUM_VARIABLE_ERRORS, hideSuggestions }
  const { errors } = getVariableValues(schema, variableDefinitions, variables, options)
  return errors?.map(requestError)
}

/** An error of a value, which its message quotes, refuses the request. */
function requestError({ message, nodes = [] }: GraphQLError): GraphQLError {
  const short = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message
  return new GraphQLError(short, { nodes, extensions: { http: { status: 400 } } })
}

/**
 * Refuses an operation that may cost more than the limit, or has an argument that its variables do not fit: null where a
 * type is not nullable. Others wait for memory for their response.
 */
export async function admitCost(
  { document, operation: resolved, request, contextValue }: Request,
  { cost: maximum }: DocumentLimits,
  estimator: CostEstimator,
): Promise<void> {
  const { variables = {}, operationName } = request
  const operation = { document, variables, operationName }
  const { response, total } = await estimator.all(operation, maximum * STATEMENT_PART).catch((error) => {
    throw error instanceof GraphQLError ? requestError(error) : error
  })
  const found = Number.isFinite(total) ? `: up to ${total}` : ''
  const message = `The operation may cost more than the limit of ${maximum}${found}. Request smaller lists, shorter fields, or fewer filters, sorts and aggregates.`
  if (total > maximum) throw refused(message)
  const { slot, subscriber } = contextValue
  // A subscription begins with a page.
  const kept = resolved?.operation === 'subscription' && subscriber ? subscriber.pageCost : response
  await slot.reserve(kept * RESPONSE_BYTES_PER_UNIT)
}

/** After work in turns, the next waits this many times its duration, but at most a second. */
const REST = 9
const LONGEST_REST_MILLISECONDS = 1_000

/**
 * Makes the functions that wait for the turn of work that blocks the event loop for up to 50 ms, and return what to call at
 * its end. One runs at a time, callers in turn, for at most a tenth of the time.
 */
export function blockingTurns() {
  const limiter = new Limiter({ capacity: 1, share: 1 })
  async function take({ caller, slot }: GraphContext): Promise<() => void> {
    const release = await limiter.acquire(caller.identity, 1, slot)
    const started = performance.now()
    return () => {
      const rest = Math.min(REST * (performance.now() - started), LONGEST_REST_MILLISECONDS)
      setTimeout(release, rest).unref()
    }
  }
  const none = () => {}
  return {
    /** For a document that is parsed and validated for the first time. */
    ofDocument: async ({ source, contextValue }: { source: string; contextValue: GraphContext }) =>
      // Too late, the caller has got the error already.
      source.length <= SHORT_DOCUMENT ? none : take(contextValue).catch(() => none),
    /** For introspection, which tools need once. */
    ofIntrospection: async ({ document, contextValue }: Request) =>
      countIntrospections(document) === 0 ? none : take(contextValue),
  }
}

/** In UTF-16 code units. Parsing and validating a shorter document takes a millisecond or two. */
const SHORT_DOCUMENT = 1_000

/** A list of a thousand resources can have an error for each. */
const MAXIMUM_ERRORS = 100

export function limitErrors({ body }: GraphQLResponse): void {
  if (body.kind !== 'single') return
  const { errors = [], extensions } = body.singleResult
  if (errors.length <= MAXIMUM_ERRORS) return
  body.singleResult.errors = errors.slice(0, MAXIMUM_ERRORS)
  body.singleResult.extensions = { ...extensions, omittedErrors: errors.length - MAXIMUM_ERRORS }
}
