import type { Context } from 'koa'
import { QueryParameters } from '../query-parameters.ts'
import type { Urls } from '../urls.ts'

export const CHANGES_PATH = '/changes'

/** The query string of the feed. */
export interface ChangesQuery {
  readonly since?: string | undefined
  readonly collections?: readonly string[]
  readonly limit: number
}

/** The URL of the feed, with parameters in a fixed order. */
export function changesUrl({ base }: Urls, { since, collections, limit }: ChangesQuery): string {
  const parameters = [
    ...(since === undefined ? [] : [`since=${encodeURIComponent(since)}`]),
    ...(collections === undefined ? [] : [`collection=${collections.map(encodeURIComponent).join(',')}`]),
    `limit=${limit}`,
  ]
  return `${base}${CHANGES_PATH}?${parameters.join('&')}`
}

const PARAMETERS = ['since', 'collection', 'limit']

/**
 * @param last the position of the last event that a stream has sent, which replaces `since`
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400) with all problems
 */
export function parseChangesQuery(ctx: Context, maximum: number, last?: string): ChangesQuery {
  const parameters = new QueryParameters(ctx.URL.searchParams)
  parameters.checkNames(PARAMETERS)
  const limit = parameters.limit(maximum)
  parameters.refuseProblems()
  const since = last ?? parameters.search.get('since')
  const collections = parameters.search.get('collection')?.split(',')
  return {
    ...(since !== null && { since }),
    ...(collections && { collections: [...new Set(collections)] }),
    limit,
  }
}
