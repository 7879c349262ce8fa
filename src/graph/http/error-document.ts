import type { Context } from 'koa'
import type { DomainError } from '../../domain/model/errors.ts'

/** Where the schema is served. */
export const GRAPHQL_PATH = '/graphql'

const MEDIA_TYPES = ['application/json', 'application/graphql-response+json']

/** The body of a failed request in GraphQL's form, and its media type (GraphQL over HTTP §6). */
export function errorDocument(ctx: Context, { code, message, details }: DomainError) {
  const type = ctx.accepts(...MEDIA_TYPES) || 'application/json'
  return { type: `${type}; charset=utf-8`, body: { errors: [{ message, extensions: { code, details } }] } }
}
