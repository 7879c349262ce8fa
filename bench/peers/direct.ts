import { readList, readResource } from '../../src/domain/read.ts'
import { species } from '../../src/domain/resources/species.ts'
import type { Operation, Prepare } from '../../src/graph/execution/operation.ts'
import { type PageArguments, toPage, toPageRequest } from '../../src/graph/schema/pages.ts'
import { authorize } from '../../src/model/authorize.ts'
import type { Resource, Values } from '../../src/model/resource.ts'
import type { Row } from '../../src/model/row.ts'
import { type Service, startService } from '../../src/service/server.ts'
import { loadConfiguration } from '../../src/service/settings/configuration.ts'

// The service, except that the two commonest reads call the domain themselves instead of running a GraphQL
// operation: what that step costs is the difference between the two.

let service: Service

const readOne: Operation = async ({ id }, caller) => {
  authorize(caller, species, 'read')
  const row = await readResource(service.database.client, species, { id: id as string })
  return { resource: inWireNames(species, row) }
}

const readPage: Operation = async ({ page, limit }, caller) => {
  authorize(caller, species, 'read')
  const args = { page, limit, sort: [] } as unknown as PageArguments
  const request = toPageRequest(species, args, 100, true)
  const { items, totalCount, hasMore, nextCursor, previousCursor } = toPage(
    species,
    args,
    request,
    await readList(service.database.client, species, request),
  )
  const shown = items.map((row) => inWireNames(species, row))
  const list = {
    page,
    total_count: totalCount,
    has_more: hasMore,
    next: nextCursor,
    previous: previousCursor,
  }
  return { list: { ...list, items: shown } }
}

function inWireNames(resource: Resource, row: Row): Values {
  const data: Record<string, unknown> = { version: row.version }
  for (const { path, column } of resource.leaves) {
    const [outer, inner] = path as [string, string?]
    if (inner === undefined) data[outer] = row[column]
    else if (row[column] !== null) data[outer] = { ...(data[outer] as object), [inner]: row[column] }
  }
  return data
}

function directly(prepare: Prepare): Prepare {
  return (document) => {
    if (/^\s*query \(\$id: ID!\) \{\s*resource: species\(/.test(document)) return readOne
    const operation = prepare(document)
    if (!/^\s*query \(\$page[^{]*\{\s*list: speciesPage\(/.test(document)) return operation
    return (variables, caller, signal) =>
      variables['filter'] === null &&
      (variables['sort'] as []).length === 0 &&
      variables['cursor'] === undefined
        ? readPage(variables, caller, signal)
        : operation(variables, caller, signal)
  }
}

service = await startService({
  ...(await loadConfiguration()),
  tokens: {
    jwt: { kind: 'secret', secret: process.env['JWT_SECRET'] as string },
    jwtIssuer: undefined,
    jwtAudience: undefined,
  },
  watch: directly,
  reportFault: (error) => console.error(error),
})
