import { ApolloServer, HeaderMap } from '@apollo/server'
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled'
import type { GraphQLSchema } from 'graphql'
import type { Context, Middleware } from 'koa'
import type { Caller } from '../domain/caller.ts'
import { createContext, type DomainContext, type GraphContext } from './context.ts'
import { formatErrors, type ReportFault } from './errors.ts'
import type { RunOperation } from './instrument.ts'

export interface GraphQLServerParts {
  readonly schema: GraphQLSchema
  readonly domain: DomainContext
  /** Reads the JSON body of a request. */
  readonly readBody: (ctx: Context) => Promise<unknown>
  readonly introspection: boolean
  readonly reportFault: ReportFault
  /** Every request goes through it. */
  readonly run: RunOperation
}

const PATH = '/graphql'

/**
 * The schema over HTTP at /graphql, for dashboards (GraphQL over HTTP). The caller was authenticated
 * before; what fails here is answered in GraphQL's own form.
 */
export async function createGraphQLServer(parts: GraphQLServerParts): Promise<Middleware> {
  const { schema, domain, readBody, introspection, reportFault, run } = parts
  const server = new ApolloServer<GraphContext>({
    schema,
    introspection,
    includeStacktraceInErrorResponses: false,
    persistedQueries: false,
    csrfPrevention: true,
    stopOnTerminationSignals: false,
    plugins: [ApolloServerPluginLandingPageDisabled()],
    formatError: formatErrors(reportFault),
  })
  await server.start()
  return async (ctx, next) => {
    if (ctx.path !== PATH) return next()
    ctx.state['route'] = PATH
    const caller = ctx.state['caller'] as Caller
    const body = ctx.method === 'POST' ? await readBody(ctx) : undefined
    const response = await run('request', () =>
      server.executeHTTPGraphQLRequest({
        httpGraphQLRequest: { method: ctx.method, headers: headersOf(ctx), search: ctx.search, body },
        context: async () => createContext(caller, domain),
      }),
    )
    for (const [name, value] of response.headers) ctx.set(name, value)
    ctx.status = response.status ?? 200
    ctx.body = response.body.kind === 'complete' ? response.body.string : ''
  }
}

function headersOf(ctx: Context): HeaderMap {
  const headers = new HeaderMap()
  for (const [name, value] of Object.entries(ctx.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  return headers
}
