import { createSourceEventStream, type ExecutionArgs, type ExecutionResult, execute, parse } from 'graphql'
import type { Slot } from '../../domain/session/slot.ts'
import { EVENT_HEADERS, EVENT_STREAM, sendEvents } from '../../http/content/event-stream.ts'
import type { Context } from '../../http/context.ts'
import { acceptable } from '../../http/negotiation.ts'
import type { Caller } from '../../model/access/caller.ts'
import { DomainError } from '../../model/errors.ts'
import { DEFAULT_PAGE_SIZE } from '../../model/query/query.ts'
import type { Subscriber } from '../execution/context.ts'
import { type Format, formatResult } from '../execution/errors.ts'
import type { ChangesPerPage } from '../execution/operation.ts'
import type { AroundOperation, OperationDocument } from '../execution/run-operation.ts'

const HEARTBEAT = ':\n\n'
const COMPLETE = 'event: complete\ndata:\n\n'

function next(result: string): string {
  return `event: next\ndata: ${result}\n\n`
}

interface EventParts {
  readonly run: AroundOperation
  readonly changesPerPage?: ChangesPerPage | undefined
  readonly format: Format
}

export const RESULT_TYPES = ['application/json', 'application/graphql-response+json']

/**
 * The response to a request that accepts a stream of events (GraphQL over SSE, distinct connections mode): the results of
 * a subscription, or the result of another operation. Errors of the document are results, too.
 */
export class EventResponse implements Subscriber {
  readonly #ended = new AbortController()
  readonly signal = this.#ended.signal
  readonly pageSize: number
  #results: AsyncIterable<string> | undefined

  constructor(
    private readonly parts: EventParts,
    private readonly caller: Caller,
  ) {
    this.pageSize = Math.min(DEFAULT_PAGE_SIZE, parts.changesPerPage?.(PAGE) ?? DEFAULT_PAGE_SIZE)
  }

  read<Page>(page: (slot: Slot) => Promise<Page>): Promise<Page> {
    const parts = [[PAGE, { limit: this.pageSize }]] as const
    return this.parts.run({ type: 'query', name: 'changes', parts }, this.caller, page)
  }

  /** Returns the errors of a subscription that cannot begin. */
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
          page += next(JSON.stringify(formatResult(result, this.parts.format)))
        }
      }
    } catch (error) {
      yield next(this.#failed(error))
    }
    yield COMPLETE
  }

  #failed(error: unknown): string {
    return JSON.stringify({ errors: [this.parts.format({ message: (error as Error).message }, error)] })
  }
}

const PAGE_DOCUMENT = parse(
  'query ($limit: Int!) { changes(limit: $limit) { items { cursor by resource } } }',
)

/** A page of a subscription, for its cost. */
export const PAGE: OperationDocument = { type: 'query', document: () => PAGE_DOCUMENT, sizedBy: 'limit' }
