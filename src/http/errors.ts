import type { Context, Middleware } from 'koa'
import { DomainError, type ErrorCode, STATUS } from '../model/errors.ts'

/** The body of every failed request (SPEC §2.4). */
export function errorEnvelope({ code, message, details }: DomainError) {
  return { error: { code, message, details } }
}

type Headers = Readonly<Record<string, string>>

/** A failure whose response has headers of its own. */
export class HttpError extends DomainError {
  constructor(
    code: ErrorCode,
    message: string,
    readonly headers: Headers,
  ) {
    super(code, message)
  }
}

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** The error for a method that is not supported here (RFC 9110 §15.5.6). */
export function methodNotAllowed(method: string, headers: Headers & { Allow: string }): HttpError {
  const message = `${method} is not allowed here. Allowed: ${headers.Allow}.`
  return new HttpError('METHOD_NOT_ALLOWED', message, headers)
}

export function errorHeaders(error: DomainError): Headers {
  return {
    ...(error.code === 'SERVICE_UNAVAILABLE' && { 'Retry-After': '1' }),
    ...(error instanceof HttpError && error.headers),
  }
}

/**
 * The Link header to the explanation of an error code (RFC 8288). The URL is relative to the path of the request, so
 * that it works behind any gateway.
 */
export function helpLink(path: string, code: ErrorCode): string {
  return `<${'../'.repeat(Math.max(path.split('/').length - 2, 0))}errors/${code}>; rel="help"`
}

/** Told of every fault of the service, with the id that the response names. */
export type ReportFault = (error: unknown, requestId: string) => void

export type FormatError = (ctx: Context, error: DomainError) => { type: string; body: object }

/**
 * Renders every thrown error as the error envelope (SPEC §2.4), or in the format of the route. Anything but a
 * DomainError is a fault of the service: it is reported, and the response reveals nothing.
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
      const { type, body } = formatOf(ctx.path)?.(ctx, error) ?? {
        type: 'application/json; charset=utf-8',
        body: errorEnvelope(error),
      }
      ctx.status = STATUS[error.code]
      ctx.set(errorHeaders(error))
      ctx.append('Link', helpLink(ctx.path, error.code))
      ctx.set('Content-Type', type)
      ctx.body = JSON.stringify(body)
    }
  }
}

function masked(requestId: string): DomainError {
  const message = `Internal error. The log of the service has the details under request id ${requestId}.`
  return new DomainError('INTERNAL_ERROR', message)
}
