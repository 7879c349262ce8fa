import type { Context } from 'koa'
import { type Detail, DomainError } from '../../model/errors.ts'
import { DEFAULT_PAGE_SIZE } from '../../model/query/query.ts'
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
  const search = ctx.URL.searchParams
  const details: Detail[] = []
  for (const name of new Set(search.keys())) {
    const isUnknown = !PARAMETERS.includes(name)
    const unknown = `Unknown query parameter ${name}. Supported: ${PARAMETERS.join(', ')}.`
    if (isUnknown) details.push({ field: name, code: 'UNKNOWN_PARAMETER', message: unknown })
    const repeated = `${name} must be given once.`
    if (search.getAll(name).length > 1)
      details.push({ field: name, code: 'REPEATED_PARAMETER', message: repeated })
  }
  const [since, collection, limit] = PARAMETERS.map((name) => search.get(name) ?? undefined)
  const number = /^[1-9][0-9]*$/.test(limit ?? '') ? Number(limit) : 0
  if (limit !== undefined && (number < 1 || number > maximum)) {
    const message = `limit must be a whole number from 1 to ${maximum}, written in digits.`
    details.push({ field: 'limit', code: 'OUT_OF_RANGE', message })
  }
  const [first] = details
  if (first) throw new DomainError('INVALID_QUERY_PARAMETER', first.message, details)
  return {
    ...((last ?? since) !== undefined && { since: last ?? since }),
    ...(collection !== undefined && { collections: [...new Set(collection.split(','))] }),
    limit: limit === undefined ? Math.min(DEFAULT_PAGE_SIZE, maximum) : number,
  }
}
