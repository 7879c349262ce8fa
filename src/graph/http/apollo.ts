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
import { execute, type GraphQLSchema, getVariableValues } from 'graphql'
import type { Context } from 'koa'
import { callerOf } from '../../http/auth/authenticate.ts'
import type { FormatError } from '../../http/errors.ts'
import { readJsonBody } from '../../http/json/body.ts'
import type { Route } from '../../http/routes.ts'
import { awaitWrites, createContext, type DomainContext, type GraphContext } from '../execution/context.ts'
import type { CostEstimator } from '../execution/cost.ts'
import { formatErrors, type ReportError } from '../execution/errors.ts'
import { describeOperation, type RunOperation } from '../execution/operation.ts'
import { executeTogether, type TransactionMode, transactionMode } from '../execution/transaction.ts'
import {
  admitCost,
  type DocumentLimits,
  introspectionTurns,
  limitErrors,
  limitRules,
  MAXIMUM_TOKENS,
  MAXIMUM_VALIDATION_ERRORS,
} from './limits.ts'
import { type DocumentPolicy, parametersOfGet, parametersOfPost, type RequestParameters } from './request.ts'

export const GRAPHQL_PATH = '/graphql'

export interface GraphQLServerParts {
  readonly schema: GraphQLSchema
  readonly domain: DomainContext
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
  const server = createApollo(parts)
  await server.start()

  async function execute(ctx: Context, { search, body, type }: RequestParameters): Promise<void> {
    const caller = callerOf(ctx)
    const headers = new HeaderMap(Object.entries(ctx.headers).map(([name, value]) => [name, String(value)]))
    const response = await run({ type }, caller, (slot) =>
      server.executeHTTPGraphQLRequest({
        httpGraphQLRequest: { method: ctx.method, headers, search, body },
        context: async () => createContext(caller, domain, { slot, selectsWritten: false }),
      }),
    )
    for (const [name, value] of response.headers) ctx.set(name, value)
    ctx.status = response.status ?? 200
    ctx.body = response.body.kind === 'complete' ? response.body.string : ''
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

const MEDIA_TYPES = ['application/json', 'application/graphql-response+json']

/** A failed request in GraphQL's form (GraphQL over HTTP §6). */
const formatError: FormatError = (ctx, { code, message, details }) => {
  const type = ctx.accepts(...MEDIA_TYPES) || 'application/json'
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
          await admitCost(request, limits, costs)
          finish = await takeTurn(request)
          if (operation?.operation === 'query') await awaitWrites(contextValue)
        },
        responseForOperation: async (request) => {
          const mode = transactionMode(request.operation)
          const { variableDefinitions = [] } = request.operation
          // Apollo refuses variables that do not fit.
          const { errors } = getVariableValues(schema, variableDefinitions, request.request.variables ?? {})
          return mode && !errors ? respondTogether(schema, request, mode, format) : null
        },
        willSendResponse: async ({ response }) => {
          finish()
          limitErrors(response)
        },
      }
    },
  }
}

/** Responds to a mutation in one transaction, which Apollo cannot execute again after a conflict. */
async function respondTogether(
  schema: GraphQLSchema,
  { document, request, contextValue: context }: GraphQLRequestContextResponseForOperation<GraphContext>,
  mode: TransactionMode,
  format: ReturnType<typeof formatErrors>,
): Promise<GraphQLResponse> {
  const { variables: variableValues, operationName } = request
  const { errors, ...result } = await executeTogether(context, mode, (contextValue) =>
    execute({ schema, document, contextValue, variableValues, operationName }),
  )
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
