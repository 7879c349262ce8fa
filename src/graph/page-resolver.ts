import { authorize } from '../domain/authorize.ts'
import { readPage, type Within } from '../domain/read.ts'
import type { Resource } from '../domain/resource.ts'
import { type PageArguments, toPageRequest } from './arguments.ts'
import type { GraphContext } from './context.ts'

/** Answers with one page of a list, of the resources within another one where that is given. */
export async function resolvePage(
  resource: Resource,
  args: PageArguments,
  { caller, domain }: GraphContext,
  parent: Within | undefined,
) {
  authorize(caller, resource, 'read')
  const request = toPageRequest(resource, args, domain.maximumPageSize)
  const { rows, totalCount } = await readPage(domain.client, resource, { ...request, within: parent })
  const { page, limit } = request
  const totalPages = Math.ceil(totalCount / limit)
  return { items: rows, page, limit, totalCount, totalPages, hasMore: page < totalPages }
}
