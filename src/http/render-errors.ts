import type { Context, Middleware } from 'koa'
import { DomainError } from '../domain/model/errors.ts'
import { errorEnvelope, errorHeaders, STATUS } from './errors.ts'

/** Told of every fault of the service, with the id under which the caller was told of it. */
export type ReportFault = (error: unknown, requestId: string) => void

/** Makes the body of a failed response and its media type. */
export type FormatError = (ctx: Context, error: DomainError) => { type: string; body: object }

const formatEnvelope: FormatError = (_, error) => ({
  type: 'application/json; charset=utf-8',
  body: errorEnvelope(error),
})

/**
 * Renders every error that is thrown further in: as the error envelope (SPEC §2.4), or in the format of the
 * route. What is not a DomainError is a fault of the service: it is reported, and the response tells nothing
 * of it.
 *
 * @param formatOf finds the format of the route at a path; undefined for the envelope
 */
export function renderErrors(
  reportFault: ReportFault,
  formatOf: (path: string) => FormatError | undefined,
): Middleware {
  return async (ctx, next) => {
    try {
      await next()
    } catch (thrown) {
      const error = thrown instanceof DomainError ? thrown : masked(ctx.state['requestId'])
      if (error !== thrown) reportFault(thrown, ctx.state['requestId'])
      // Why the database did not serve is for the log, not for the caller.
      if (error.cause instanceof Error) ctx.state['reason'] = error.cause.message
      const format = formatOf(ctx.path) ?? formatEnvelope
      const { type, body } = format(ctx, error)
      ctx.status = STATUS[error.code]
      ctx.set(errorHeaders(error))
      ctx.set('Content-Type', type)
      ctx.body = JSON.stringify(body)
    }
  }
}

function masked(requestId: string): DomainError {
  const message = `The service failed to answer. Its log has the reason under the request id ${requestId}.`
  return new DomainError('INTERNAL_ERROR', message)
}
