import { setImmediate as nextTurn } from 'node:timers/promises'
import { ApolloServer, type ApolloServerPlugin, type GraphQLResponse, HeaderMap } from '@apollo/server'
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled'
import { stringifyChunked } from '@discoveryjs/json-ext'
import type { ExecutionResult, GraphQLError, GraphQLSchema } from 'graphql'
import type { OpenSession } from '../../domain/session/session.ts'
import { callerOf } from '../../http/auth/authenticate.ts'
import { EVENT_STREAM } from '../../http/content/event-stream.ts'
import type { Context } from '../../http/context.ts'
import type { FormatError } from '../../http/errors.ts'
import { readJsonBody } from '../../http/json.ts'
import { acceptable, asksFor } from '../../http/negotiation.ts'
import type { Route } from '../../http/routes.ts'
import { DomainError } from '../../model/errors.ts'
import type { GraphContext } from '../execution/context.ts'
import { type Format, formatErrors, formatResult } from '../execution/errors.ts'
import { executeFields, transactionMode } from '../execution/mutation-fields.ts'
import { type AroundOperation, describeOperation } from '../execution/run-operation.ts'
import {
  type DocumentGuard,
  exactNumbers,
  limitErrors,
  MAXIMUM_TOKENS,
  MAXIMUM_VALIDATION_ERRORS,
  noIntrospection,
  refuseWithoutEvents,
  variableErrors,
} from './document-checks.ts'
import { EventResponse, RESULT_TYPES } from './event-response.ts'
import { operationReader } from './operation-type.ts'
import { type DocumentPolicy, parametersOfGet, parametersOfPost, type RequestParameters } from './request.ts'

export const GRAPHQL_PATH = '/graphql'

interface GraphQLServerParts {
  readonly schema: GraphQLSchema
  readonly openSession: OpenSession
  readonly introspection: boolean
  readonly documents: DocumentPolicy
  readonly reportFault: Parameters<typeof formatErrors>[0]
  readonly run: AroundOperation
  readonly guard?: DocumentGuard | undefined
}

/**
 * The schema over HTTP (GraphQL over HTTP). A GET, or any other request that needs no CORS preflight, must have the
 * header `Apollo-Require-Preflight`.
 */
export async function createGraphQLRoute(parts: GraphQLServerParts): Promise<Route> {
  const { schema, openSession, documents, run, guard, introspection } = parts
  const format = formatErrors(parts.reportFault)
  const server = new ApolloServer<GraphContext>({
    schema,
    // Without it, Apollo would refuse introspection with the name of its own option.
    introspection: true,
    // Without introspection, messages do not suggest names either.
    hideSchemaDetailsFromClientErrors: !introspection,
    includeStacktraceInErrorResponses: false,
    persistedQueries: false,
    allowBatchedHttpRequests: false,
    csrfPrevention: true,
    stringifyResult: stringifyInPieces,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: MAXIMUM_TOKENS },
    validationOptions: { maxErrors: MAXIMUM_VALIDATION_ERRORS },
    validationRules: [...(guard?.rules ?? []), exactNumbers, ...(introspection ? [] : [noIntrospection])],
    plugins: [ApolloServerPluginLandingPageDisabled(), execution(parts, format)],
    formatError: format,
  })
  await server.start()
  const operationOf = operationReader(schema, guard?.refuseLarge)

  async function execute(ctx: Context, requested: RequestParameters): Promise<void> {
    ctx.vary('Accept')
    const types = [...RESULT_TYPES, EVENT_STREAM]
    if (!acceptable(ctx, ...types))
      throw new DomainError('NOT_ACCEPTABLE', `Supported media types: ${types.join(', ')}.`)
    const caller = callerOf(ctx)
    const events = asksFor(ctx, EVENT_STREAM) ? new EventResponse(format) : undefined
    const type = operationOf(requested) === 'mutation' ? 'mutation' : 'query'
    const headers = new HeaderMap(Object.entries(ctx.headers).map(([name, value]) => [name, String(value)]))
    // Apollo knows the media types of single results only.
    headers.set('accept', acceptable(ctx, ...RESULT_TYPES) || 'application/json')
    const response = await run({ type }, caller, (slot) =>
      server.executeHTTPGraphQLRequest({
        httpGraphQLRequest: { ...requested, method: ctx.method, headers },
        context: async () => ({ session: openSession(caller, slot), stream: events }),
      }),
    )
    const result = response.body.kind === 'complete' ? response.body.string : ''
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
  const type = acceptable(ctx, ...RESULT_TYPES) || 'application/json'
  return { type: `${type}; charset=utf-8`, body: { errors: [{ message, extensions: { code, details } }] } }
}

/** One plugin, because Apollo runs plugins at once: if one refused, what another waits for would not be released. */
function execution(
  { schema, guard, introspection }: GraphQLServerParts,
  format: Format,
): ApolloServerPlugin<GraphContext> {
  return {
    requestDidStart: async () => {
      let wrong: readonly GraphQLError[] | undefined
      let finish = () => {}
      const finishOnce = () => {
        finish()
        finish = () => {}
      }
      return {
        parsingDidStart: async (request) => {
          if (guard) finish = await guard.beginParsing(request)
        },
        validationDidStart: async () => async () => finishOnce(),
        didResolveOperation: async (request) => {
          const { operation } = request
          if (operation) {
            describeOperation(operation)
            wrong = variableErrors(schema, operation, request.request.variables, !introspection)
          }
          refuseWithoutEvents(request)
          if (wrong) return
          if (guard) finish = await guard.beginOperation(request)
        },
        responseForOperation: async ({ operation, document, contextValue, request }) => {
          const { variables: variableValues = {}, operationName } = request
          if (wrong) return singleResult({ errors: wrong }, format, 400)
          const args = { schema, document, variableValues, operationName }
          const mode = transactionMode(operation)
          if (operation.operation === 'subscription' && contextValue.stream)
            return singleResult(await contextValue.stream.subscribe({ ...args, contextValue }), format)
          // Apollo cannot execute a mutation again after a conflict.
          if (!mode) return null
          const mutation = { schema, document, operation, variables: variableValues }
          return singleResult(await executeFields(contextValue, mode, mutation), format)
        },
        willSendResponse: async ({ response }) => {
          finishOnce()
          limitErrors(response)
        },
      }
    },
  }
}

function singleResult(result: ExecutionResult, format: Format, status?: number): GraphQLResponse {
  const body = { kind: 'single', singleResult: formatResult(result, format) } as const
  return { http: { headers: new HeaderMap(), ...(status !== undefined && { status }) }, body }
}

/** Milliseconds after which other requests are served. */
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
