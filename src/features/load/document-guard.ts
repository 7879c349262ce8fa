import { GraphQLError } from 'graphql'
import type { GraphContext } from '../../graph/execution/context.ts'
import { type DocumentGuard, type ResolvedRequest, requestError } from '../../graph/http/document-checks.ts'
import type { Caller } from '../../model/access/caller.ts'
import { errorAt } from '../../model/errors.ts'
import { DEFAULT_PAGE_SIZE } from '../../model/query/query.ts'
import { type CostEstimator, changesPerPage, MAXIMUM_NODES } from './cost.ts'
import {
  countFields,
  countIntrospections,
  type DocumentLimits,
  isOfSchema,
  limitRules,
  refused,
} from './document-limits.ts'
import type { FairQueue } from './fair-queue.ts'
import type { OperationQueue } from './operation-queue.ts'
import { pauseOf, type Units } from './units.ts'

/** Tools differ in what they ask of the schema. */
const MARGIN = 2

/** One statement counts for at most this part of the allowed cost. */
const STATEMENT_PART = 0.1

/** What limits the operations on one database. */
export interface NamespaceLoad {
  readonly queue: OperationQueue
  readonly costs: CostEstimator
  readonly units: Units
}

/** That of the namespace of a caller. */
export type LoadOf = (caller: Caller) => NamespaceLoad

/** Refuses documents beyond the limits. Others run when there is capacity for their cost. */
export function createDocumentGuard(loadOf: LoadOf, limits: DocumentLimits): DocumentGuard {
  const begin = blockingWork((caller) => loadOf(caller).queue.queue)
  return {
    rules: limitRules(limits),
    refuseLarge(document) {
      if (countFields(document) <= MAXIMUM_NODES) return
      const message = `With its fragments, the document has more than ${MAXIMUM_NODES} fields.`
      throw errorAt('query', 'LIMIT_EXCEEDED', 'VALIDATION_FAILED', message)
    },
    beginParsing: begin.document,
    async beginOperation(request) {
      const { operation, contextValue } = request
      const { slot, caller } = contextValue.session
      const { costs, units } = loadOf(caller)
      const end = await begin.estimate(request)
      const { response } = await allowedCost(request, limits, costs).finally(end)
      // A subscription begins with a page.
      const page = costs.change * Math.min(changesPerPage(costs.change), DEFAULT_PAGE_SIZE)
      const isSubscription = operation?.operation === 'subscription'
      const type = operation?.operation === 'mutation' ? 'mutation' : 'query'
      await slot.need(units.ofResponse(type, isSubscription ? page : response))
      return begin.introspection(request)
    },
  }
}

/**
 * The cost of an operation. Refuses one that may cost more than the limit, or has an argument that its variables do not fit:
 * null where a type is not nullable.
 */
async function allowedCost(
  { document, contextValue, request: { variables = {}, operationName } }: ResolvedRequest,
  { cost: limit }: DocumentLimits,
  estimator: CostEstimator,
) {
  const operation = { document, variables, operationName }
  const maximum = isOfSchema(document) ? Math.max(limit, MARGIN * estimator.introspection()) : limit
  const cost = await estimator.all(operation, limit * STATEMENT_PART).catch((error) => {
    throw error instanceof GraphQLError ? requestError(error) : error
  })
  const { total } = cost
  if (total <= maximum) return cost
  // The cost depends on the sizes of tables, whose rows the caller may not know.
  const found = Number.isFinite(total) && !contextValue.session.isLimited ? `: up to ${total}` : ''
  const message = `The operation may cost more than the limit of ${maximum}${found}. Request smaller lists, shorter fields, or fewer filters, sorts and aggregates.`
  throw refused(message)
}

/**
 * Makes the functions that wait until work may start that blocks the event loop for up to 50 ms, and return what to call at
 * its end. It takes a whole share, and beside others, a caller does such work for at most a tenth of the time.
 */
export function blockingWork(queueOf: (caller: Caller) => FairQueue) {
  async function begin({ session: { slot, caller } }: GraphContext): Promise<() => void> {
    await slot.need(Number.POSITIVE_INFINITY)
    const started = performance.now()
    return () => {
      const pause = pauseOf(performance.now() - started)
      queueOf(caller).pause(caller.identity, Number.POSITIVE_INFINITY, pause)
    }
  }
  const none = () => {}
  return {
    /** For a document that is parsed and validated for the first time. */
    document: async ({ source, contextValue }: { source: string; contextValue: GraphContext }) =>
      // Too late, the caller has got the error already.
      source.length <= SHORT_DOCUMENT ? none : begin(contextValue).catch(() => none),
    /** For the cost of a document with many fields. */
    estimate: async ({ document, contextValue }: ResolvedRequest) =>
      countFields(document) <= FEW_FIELDS ? none : begin(contextValue),
    /** For introspection, which tools need once. */
    introspection: async ({ document, contextValue }: ResolvedRequest) =>
      countIntrospections(document) === 0 ? none : begin(contextValue),
  }
}

/** In UTF-16 code units. Parsing and validating a shorter document takes a millisecond or two. */
const SHORT_DOCUMENT = 1_000

/** With fragments expanded. Estimating the cost of fewer takes half a millisecond. */
const FEW_FIELDS = 500
