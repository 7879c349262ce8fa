import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  ApolloServer,
  type ApolloServerPlugin,
  type GraphQLRequestContextResponseForOperation,
  type GraphQLResponse,
  HeaderMap,
} from '@apollo/server'
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled'
import { stringifyChunked } from '@discoveryjs/json-ext'
import { type ExecutionResult, execute, type GraphQLSchema, getVariableValues } from 'graphql'
import type { Context } from 'koa'
import type { FeedWatch } from '../../domain/feed/watch.ts'
import { callerOf } from '../../http/auth/authenticate.ts'
import { EVENT_STREAM } from '../../http/content/event-stream.ts'
import type { FormatError } from '../../http/errors.ts'
import { readJsonBody } from '../../http/json.ts'
import { acceptable, asksFor } from '../../http/negotiation.ts'
import type { Route } from '../../http/routes.ts'
import { awaitWrites, createContext, type DomainContext, type GraphContext } from '../execution/context.ts'
import type { CostEstimator } from '../execution/cost.ts'
import { formatErrors, type ReportError } from '../execution/errors.ts'
import { describeOperation, type RunOperation } from '../execution/operation.ts'
import { executeTogether, type TransactionMode, transactionMode } from '../execution/transaction.ts'
import { EventResponse, RESULT_TYPES, refuseWithoutEvents } from './event-response.ts'
import {
  admitCost,
  type DocumentLimits,
  introspectionTurns,
  limitErrors,
  limitRules,
  MAXIMUM_TOKENS,
  MAXIMUM_VALIDATION_ERRORS,
  refuseConditionalSubscription,
} from './limits.ts'
import { type DocumentPolicy, parametersOfGet, parametersOfPost, type RequestParameters } from './request.ts'

export const GRAPHQL_PATH = '/graphql'

export interface GraphQLServerParts {
  readonly schema: GraphQLSchema
  readonly domain: DomainContext
  readonly feed: FeedWatch
  readonly introspection: boolean
  readonly limits: DocumentLimits
  readonly costs: CostEstimator
  readonly documents: DocumentPolicy
  readonly reportFault: ReportError
  readonly run: RunOperation
}

/**
 * The schema over HTTP (GraphQL over HTTP). A GET, or any other request that needs no CORS preflight, must have the
 * header `Apollo-Require-Preflight`.
 */
export async function createGraphQLRoute(parts: GraphQLServerParts): Promise<Route> {
  const { domain, documents, run } = parts
  const eventParts = { ...parts, format: formatErrors(parts.reportFault) }
  const server = createApollo(parts)
  await server.start()

  async function execute(ctx: Context, { search, body, query, type }: RequestParameters): Promise<void> {
    if (typeof query === 'string') refuseConditionalSubscription(parts.schema, query)
    const caller = callerOf(ctx)
    const headers = new HeaderMap(Object.entries(ctx.headers).map(([name, value]) => [name, String(value)]))
    const events = asksFor(ctx, EVENT_STREAM) ? new EventResponse(eventParts, caller) : undefined
    // Apollo knows the media types of single results only.
    if (events && !acceptable(ctx, ...RESULT_TYPES)) headers.delete('accept')
    const response = await run({ type }, caller, (slot) =>
      server.executeHTTPGraphQLRequest({
        httpGraphQLRequest: { method: ctx.method, headers, search, body },
        context: async () =>
          createContext(caller, domain, { slot, selectsWritten: false, subscriber: events }),
      }),
    )
    const result = response.body.kind === 'complete' ? response.body.string : ''
    ctx.vary('Accept')
    if (events?.send(ctx, result)) return
    for (const [name, value] of response.headers) ctx.set(name, value)
    ctx.status = response.status ?? 200
    ctx.body = result
  }

  return {
    path: GRAPHQL_PATH,
    access: 'token',
    formatError,
    methods: {
      GET: { handle: (ctx) => execute(ctx, parametersOfGet(ctx, documents)) },
      POST: { handle: async (ctx) => execute(ctx, parametersOfPost(await readJsonBody(ctx), documents)) },
    },
  }
}

/** A failed request in GraphQL's form (GraphQL over HTTP §6). */
const formatError: FormatError = (ctx, { code, message, details }) => {
  const type = ctx.accepts(...RESULT_TYPES) || 'application/json'
  return { type: `${type}; charset=utf-8`, body: { errors: [{ message, extensions: { code, details } }] } }
}

function createApollo(parts: GraphQLServerParts) {
  const { schema, introspection, limits, reportFault } = parts
  return new ApolloServer<GraphContext>({
    schema,
    introspection,
    // Without introspection, neither do messages guess what was meant.
    hideSchemaDetailsFromClientErrors: !introspection,
    includeStacktraceInErrorResponses: false,
    persistedQueries: false,
    allowBatchedHttpRequests: false,
    csrfPrevention: true,
    stringifyResult: stringifyInPieces,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: MAXIMUM_TOKENS },
    validationOptions: { maxErrors: MAXIMUM_VALIDATION_ERRORS },
    validationRules: limitRules(limits),
    plugins: [ApolloServerPluginLandingPageDisabled(), admission(parts)],
    formatError: formatErrors(reportFault),
  })
}

/** In one plugin, because Apollo would run several at once: what one waits for must be released if another refuses. */
function admission({
  schema,
  limits,
  costs,
  reportFault,
}: GraphQLServerParts): ApolloServerPlugin<GraphContext> {
  const takeTurn = introspectionTurns()
  const format = formatErrors(reportFault)
  return {
    requestDidStart: async () => {
      let finish = () => {}
      return {
        didResolveOperation: async (request) => {
          const { operation, contextValue } = request
          if (operation) describeOperation(operation)
          refuseWithoutEvents(request)
          await admitCost(request, limits, costs)
          finish = await takeTurn(request)
          if (operation?.operation === 'query') await awaitWrites(contextValue)
        },
        responseForOperation: async (request) => {
          const mode = transactionMode(request.operation)
          const { variableDefinitions = [] } = request.operation
          // Apollo refuses variables that do not fit.
          const { errors } = getVariableValues(schema, variableDefinitions, request.request.variables ?? {})
          if (errors) return null
          if (request.operation.operation === 'subscription')
            return respondWithEvents(schema, request, format)
          return mode ? respondTogether(schema, request, mode, format) : null
        },
        willSendResponse: async ({ response }) => {
          finish()
          limitErrors(response)
        },
      }
    },
  }
}

type Request = GraphQLRequestContextResponseForOperation<GraphContext>
type Format = ReturnType<typeof formatErrors>

/** Begins a subscription. The result is that of one that cannot begin. */
async function respondWithEvents(schema: GraphQLSchema, request: Request, format: Format) {
  const { variables: variableValues, operationName } = request.request
  const { document, contextValue } = request
  const args = { schema, document, contextValue, variableValues, operationName }
  const errors = await (contextValue.subscriber as EventResponse).subscribe(args)
  return singleResult(errors.length > 0 ? { errors } : {}, format)
}

/** Responds to a mutation in one transaction, which Apollo cannot execute again after a conflict. */
async function respondTogether(
  schema: GraphQLSchema,
  { document, request, contextValue: context }: Request,
  mode: TransactionMode,
  format: Format,
): Promise<GraphQLResponse> {
  const { variables: variableValues, operationName } = request
  const result = await executeTogether(context, mode, (contextValue) =>
    execute({ schema, document, contextValue, variableValues, operationName }),
  )
  return singleResult(result, format)
}

function singleResult({ errors, ...result }: ExecutionResult, format: Format): GraphQLResponse {
  const formatted = errors && { errors: errors.map((error) => format(error.toJSON(), error)) }
  return {
    http: { headers: new HeaderMap() },
    body: { kind: 'single', singleResult: { ...result, ...formatted } },
  }
}

/** After this many milliseconds, other requests are served. */
const SLICE = 5

/** Serializes a result in pieces. `JSON.stringify` blocks the process for up to 30 ms for a response of 15 MB. */
async function stringifyInPieces(result: object): Promise<string> {
  const pieces: string[] = []
  let started = performance.now()
  for (const piece of stringifyChunked(result)) {
    pieces.push(piece)
    if (performance.now() - started > SLICE) {
      await nextTurn()
      started = performance.now()
    }
  }
  return pieces.join('')
}
