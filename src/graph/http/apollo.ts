import { ApolloServer, HeaderMap } from '@apollo/server'
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled'
import type { GraphQLSchema } from 'graphql'
import type { Context, Middleware } from 'koa'
import type { Caller } from '../../domain/model/caller.ts'
import { DomainError } from '../../domain/model/errors.ts'
import { createContext, type DomainContext, type GraphContext } from '../execution/context.ts'
import type { CostEstimator } from '../execution/cost.ts'
import { formatErrors, type ReportFault } from '../execution/errors.ts'
import type { RunOperation } from '../execution/instrument.ts'
import { GRAPHQL_PATH } from './error-document.ts'
import { costLimit, errorLimit, limitRules, MAXIMUM_TOKENS, type OperationLimits } from './limits.ts'
import { type DocumentPolicy, parametersOfGet, parametersOfPost } from './request.ts'
import { stringifyInPieces } from './stringify-in-pieces.ts'

export interface GraphQLServerParts {
  readonly schema: GraphQLSchema
  readonly domain: DomainContext
  /** Reads the JSON body of a request. */
  readonly readBody: (ctx: Context) => Promise<unknown>
  /** Whether callers may ask what the schema is. */
  readonly introspection: boolean
  readonly limits: OperationLimits
  readonly costs: CostEstimator
  readonly documents: DocumentPolicy
  readonly reportFault: ReportFault
  /** Every request goes through it. */
  readonly run: RunOperation
}

const METHODS = 'GET, POST, OPTIONS'

/**
 * The schema over HTTP at /graphql, for dashboards (GraphQL over HTTP). The caller was authenticated
 * before. A GET, or anything else that a page of another origin could send without being asked for
 * permission, needs the header `Apollo-Require-Preflight`.
 *
 * @throws {DomainError} METHOD_NOT_ALLOWED (405) and what reading a request throws
 */
export async function createGraphQLServer(parts: GraphQLServerParts): Promise<Middleware> {
  const { domain, readBody, documents, run } = parts
  const server = createApollo(parts)
  await server.start()
  return async (ctx, next) => {
    if (ctx.path !== GRAPHQL_PATH) return next()
    ctx.state['route'] = GRAPHQL_PATH
    if (!isServed(ctx)) return
    const { search, body } =
      ctx.method === 'GET'
        ? parametersOfGet(ctx, documents)
        : parametersOfPost(await readBody(ctx), documents)
    const caller = ctx.state['caller'] as Caller
    const response = await run('request', caller, (slot) =>
      server.executeHTTPGraphQLRequest({
        httpGraphQLRequest: { method: ctx.method, headers: headersOf(ctx), search, body },
        context: async () => createContext(caller, domain, { slot, selectsWritten: false }),
      }),
    )
    for (const [name, value] of response.headers) ctx.set(name, value)
    ctx.status = response.status ?? 200
    ctx.body = response.body.kind === 'complete' ? response.body.string : ''
  }
}

function createApollo({ schema, introspection, limits, costs, reportFault }: GraphQLServerParts) {
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
    validationRules: limitRules(limits),
    plugins: [ApolloServerPluginLandingPageDisabled(), costLimit(limits, costs), errorLimit()],
    formatError: formatErrors(reportFault),
  })
}

/** Answers OPTIONS, and refuses what is neither that nor a request. */
function isServed(ctx: Context): boolean {
  if (ctx.method === 'GET' || ctx.method === 'POST') return true
  ctx.set('Allow', METHODS)
  if (ctx.method !== 'OPTIONS') {
    throw new DomainError('METHOD_NOT_ALLOWED', `${ctx.method} is not possible here; ${METHODS} are.`)
  }
  ctx.status = 204
  return false
}

function headersOf(ctx: Context): HeaderMap {
  const headers = new HeaderMap()
  for (const [name, value] of Object.entries(ctx.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  return headers
}
