import type { Context } from 'koa'
import { joinOperations } from '../graph/execution/joined-operations.ts'
import type { Prepare, PreparedOperation } from '../graph/execution/operation.ts'
import { callerOf } from '../http/auth/authenticate.ts'
import { preferencesOf, reportApplied } from '../http/negotiation.ts'
import type { Values } from '../model/resource.ts'
import type { Write } from './writes.ts'

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
  if (preferencesOf(ctx)['graphql-operation'] !== undefined)
    show(ctx, JSON.stringify({ query: operation.document, variables }))
  return operation.run(variables, callerOf(ctx))
}

/**
 * Runs writes as one operation: in one transaction, unless it is a single one. `Prefer: tx=rollback` undoes them at the
 * end.
 *
 * @returns the result of each
 */
export async function runWrites(
  ctx: Context,
  writes: readonly Write[],
  prepare: Prepare,
  isBatch = true,
): Promise<Values[]> {
  const { tx } = preferencesOf(ctx)
  if (tx !== undefined) reportApplied(ctx, `tx=${tx}`)
  const [first] = writes
  if (first && !isBatch && tx !== 'rollback') {
    const { write } = await runForRequest(ctx, first.operation, first.variables)
    return [write as Values]
  }
  const { operation, variables } = joinOperations(writes, tx === 'rollback')
  const results = await runForRequest(ctx, prepare(operation), variables)
  return writes.map((_, index) => results[`write${index}`] as Values)
}

function show(ctx: Context, operation: string): void {
  // Headers are in printable ASCII (RFC 9110 §5.5).
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  const value = operation.replace(/[^ -~]/g, escaped)
  if (value.length > HEADER_BYTES) return
  reportApplied(ctx, 'graphql-operation')
  ctx.set('GraphQL-Operation', value)
}
