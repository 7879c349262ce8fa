import { AsyncLocalStorage } from 'node:async_hooks'
import { type Attributes, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { SERVICE_NAME } from './service-name.ts'

/** The time of one request in milliseconds, and its number of statements. */
export class Timings {
  auth = 0
  graphql = 0
  database = 0
  statements = 0
}

/** The timings of the current request, if they are measured. */
export const requestTimings = new AsyncLocalStorage<Timings>()

/** Without an OpenTelemetry SDK this makes spans that cost next to nothing and go nowhere. */
export const tracer = trace.getTracer(SERVICE_NAME)

/**
 * Runs work inside a span of its own if its request is traced. Errors are recorded and rethrown.
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
