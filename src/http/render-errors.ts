import type { Middleware } from 'koa'
import { DomainError } from '../domain/model/errors.ts'
import { errorDocument, GRAPHQL_PATH } from '../graph/http/error-document.ts'
import { entityTag } from '../rest/entity-tag.ts'
import { errorEnvelope, STATUS } from './error-envelope.ts'

/** Told of every fault of the service, with the id under which the caller was told of it. */
export type ReportFault = (error: unknown, requestId: string) => void

const JSON_TYPE = 'application/json; charset=utf-8'
const RETRY_AFTER_SECONDS = 1

/**
 * Renders whatever is thrown further in, once, as the error envelope (SPEC §2.4), or in
 * GraphQL's form where GraphQL is served. What is not a
 * DomainError is a fault of the service: it is reported, and the answer tells nothing of it.
 */
export function renderErrors(reportFault: ReportFault): Middleware {
  return async (ctx, next) => {
    try {
      await next()
    } catch (thrown) {
      const error = thrown instanceof DomainError ? thrown : masked(ctx.state['requestId'])
      if (error !== thrown) reportFault(thrown, ctx.state['requestId'])
      // Why the database did not serve is for the log, not for the caller.
      if (error.cause instanceof Error) ctx.state['reason'] = error.cause.message
      ctx.status = STATUS[error.code]
      if (error.current) ctx.set('ETag', entityTag(error.current.id, error.current.version))
      if (error.code === 'SERVICE_UNAVAILABLE') ctx.set('Retry-After', String(RETRY_AFTER_SECONDS))
      const isGraphQL = ctx.path === GRAPHQL_PATH
      const document = isGraphQL ? errorDocument(ctx, error) : { type: JSON_TYPE, body: errorEnvelope(error) }
      ctx.set('Content-Type', document.type)
      ctx.body = JSON.stringify(document.body)
    }
  }
}

function masked(requestId: string): DomainError {
  const message = `The service failed to answer. Its log has the reason under the request id ${requestId}.`
  return new DomainError('INTERNAL_ERROR', message)
}
