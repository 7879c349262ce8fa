import type { Middleware } from 'koa'
import type { Caller } from '../domain/model/caller.ts'
import { type Prepare, printDocument } from '../graph/execution/operation.ts'
import { callerOf } from '../http/auth/authenticate.ts'

const PREFERENCE = 'graphql-operation'
const ASKED = /(?:^|[,;\s])graphql-operation(?:$|[,;\s])/i

/** Longer headers are refused by proxies and clients; then the operation is not shown. */
const HEADER_BYTES = 6_000

/**
 * Shows a caller who asks for it (`Prefer: graphql-operation`, RFC 7240) the GraphQL operation that
 * answered a request: the header `GraphQL-Operation` holds what could be sent to /graphql instead. It tells
 * nothing but names, and the values that the caller sent.
 *
 * @returns the preparation to use, and the middleware to put behind the authentication
 */
export function showOperations(prepare: Prepare): { prepare: Prepare; middleware: Middleware } {
  const asking = new WeakMap<Caller, (operation: string) => void>()
  return {
    prepare: (document) => {
      const operation = prepare(document)
      const query = printDocument(document)
      return (variables, caller) => {
        asking.get(caller)?.(headerValue({ query, variables }))
        return operation(variables, caller)
      }
    },
    middleware: async (ctx, next) => {
      if (ASKED.test(ctx.get('Prefer'))) {
        // A caller of this request's own: operations are told apart by whom they are run for.
        const caller = { ...callerOf(ctx) }
        ctx.state['caller'] = caller
        asking.set(caller, (operation) => {
          if (operation.length > HEADER_BYTES) return
          ctx.append('Preference-Applied', PREFERENCE)
          ctx.set('GraphQL-Operation', operation)
        })
      }
      await next()
    },
  }
}

/** JSON in printable ASCII, which is all that a header can hold (RFC 9110 §5.5). */
function headerValue(operation: object): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(operation).replace(/[^ -~]/g, escaped)
}
