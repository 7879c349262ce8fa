import type { Context } from 'koa'
import type { PreparedOperation } from '../graph/execution/operation.ts'
import { callerOf } from '../http/auth/authenticate.ts'
import type { Values } from '../model/resource.ts'

const ASKED = /(?:^|[,;\s])graphql-operation(?:$|[,;\s])/i

/** Proxies and clients refuse longer headers, so longer operations are not shown. */
const HEADER_BYTES = 6_000

/**
 * Runs an operation and, on request (`Prefer: graphql-operation`, RFC 7240), shows it: the header `GraphQL-Operation` has
 * what could be sent to /graphql instead, which is only names and the values that the caller sent.
 */
export function runForRequest(
  ctx: Context,
  operation: PreparedOperation,
  variables: Values,
): Promise<Values> {
  if (ASKED.test(ctx.get('Prefer'))) show(ctx, JSON.stringify({ query: operation.document, variables }))
  return operation.run(variables, callerOf(ctx))
}

function show(ctx: Context, operation: string): void {
  // Headers are in printable ASCII (RFC 9110 §5.5).
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  const value = operation.replace(/[^ -~]/g, escaped)
  if (value.length > HEADER_BYTES) return
  ctx.append('Preference-Applied', 'graphql-operation')
  ctx.set('GraphQL-Operation', value)
}
