import { createSourceEventStream, type ExecutionArgs, type ExecutionResult, execute } from 'graphql'
import { EVENT_HEADERS, EVENT_STREAM, sendEvents } from '../../http/content/event-stream.ts'
import type { Context } from '../../http/context.ts'
import { acceptable } from '../../http/negotiation.ts'
import { DomainError } from '../../model/errors.ts'
import type { EventStream } from '../execution/context.ts'
import { type Format, formatResult } from '../execution/errors.ts'

const HEARTBEAT = ':\n\n'
const COMPLETE = 'event: complete\ndata:\n\n'

function next(result: string): string {
  return `event: next\ndata: ${result}\n\n`
}

export const RESULT_TYPES = ['application/json', 'application/graphql-response+json']

/**
 * The response to a request that accepts a stream of events (GraphQL over SSE, distinct connections mode): the results of
 * a subscription, or the result of another operation. Errors of the document are results, too.
 */
export class EventResponse implements EventStream {
  readonly #ended = new AbortController()
  readonly signal = this.#ended.signal
  #results: AsyncIterable<string> | undefined

  constructor(private readonly format: Format) {}

  async subscribe(args: ExecutionArgs): Promise<ExecutionResult> {
    const source = await createSourceEventStream(args)
    if (!(Symbol.asyncIterator in source)) return source
    this.#results = this.#resultsOf(source, args)
    return {}
  }

  /** Responds with events. Returns false for a single result that the client prefers as JSON. */
  send(ctx: Context, result: string): boolean {
    const results = this.#results
    if (results) {
      const failure = new DomainError('AUTHENTICATION_REQUIRED', 'The token has expired.')
      const expired = next(this.#failed(failure)) + COMPLETE
      const begin = (signal: AbortSignal) => {
        signal.addEventListener('abort', () => this.#ended.abort())
        return results
      }
      sendEvents(ctx, begin, expired)
      return true
    }
    if (acceptable(ctx, ...RESULT_TYPES, EVENT_STREAM) !== EVENT_STREAM) return false
    ctx.status = 200
    ctx.set(EVENT_HEADERS)
    ctx.body = next(result) + COMPLETE
    return true
  }

  async *#resultsOf(source: AsyncIterable<unknown>, args: ExecutionArgs): AsyncGenerator<string> {
    // Tells the client that the subscription has begun.
    yield HEARTBEAT
    let page = ''
    try {
      for await (const event of source) {
        if (event === undefined) {
          yield page || HEARTBEAT
          page = ''
        } else {
          const result = await execute({ ...args, rootValue: event })
          page += next(JSON.stringify(formatResult(result, this.format)))
        }
      }
    } catch (error) {
      yield next(this.#failed(error))
    }
    yield COMPLETE
  }

  #failed(error: unknown): string {
    return JSON.stringify({ errors: [this.format({ message: (error as Error).message }, error)] })
  }
}
