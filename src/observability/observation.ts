import { AsyncLocalStorage } from 'node:async_hooks'
import { type Attributes, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { SERVICE_NAME } from './service-name.ts'

/** Where the time of one request went, in milliseconds, and how many statements the database ran. */
export class Timings {
  auth = 0
  graphql = 0
  database = 0
  statements = 0
}

/** The timings of the current request, if it asked for them. What is measured in its work is added to them. */
export const requestTimings = new AsyncLocalStorage<Timings>()

/** Without an OpenTelemetry SDK this makes spans that cost next to nothing and go nowhere. */
export const tracer = trace.getTracer(SERVICE_NAME)

/**
 * Runs work inside a span of its own (OpenTelemetry), if it belongs to a request that is traced. What it throws
 * is recorded and thrown on.
 *
 * @param attributes named as in OpenTelemetry's semantic conventions
 */
export function inSpan<Result>(
  name: string,
  attributes: Attributes,
  work: () => Promise<Result>,
  kind = SpanKind.INTERNAL,
): Promise<Result> {
  if (!trace.getActiveSpan()) return work()
  return tracer.startActiveSpan(name, { kind, attributes }, async (span) => {
    try {
      return await work()
    } catch (error) {
      span.recordException(error as Error)
      span.setStatus({ code: SpanStatusCode.ERROR })
      throw error
    } finally {
      span.end()
    }
  })
}
