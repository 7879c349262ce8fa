import type { Client } from '../database/client.ts'
import { rejectUnavailable } from '../database/errors.ts'
import { prismaModel } from '../database/extension.ts'
import { withKeys } from '../database/key-reads.ts'
import {
  isIdentifier,
  isResourceKey,
  keyOf,
  keyOfText,
  keyText,
  type ResourceKey,
} from '../model/identifiers.ts'
import type { AggregateRequest, Group } from '../model/query/aggregate.ts'
import type { List, ListRequest } from '../model/query/list.ts'
import { listColumn } from '../model/relations.ts'
import type { Resource } from '../model/resource.ts'
import type { Row } from '../model/row.ts'
import { isOverflow } from './database-errors.ts'
import { notFoundOrGone, resourceNotFound } from './not-found.ts'

/**
 * Reads a resource. A malformed identifier is not found without a query, because PostgreSQL refuses U+0000.
 *
 * @throws {DomainError} RESOURCE_NOT_FOUND (404), RESOURCE_GONE (410)
 */
export async function readResource(client: Client, resource: Resource, key: ResourceKey): Promise<Row> {
  if (!isResourceKey(key)) throw resourceNotFound(resource, key)
  const row = await prismaModel(client, resource).findByKey(resource, key)
  return row ?? Promise.reject(await notFoundOrGone(client, resource, key))
}

/** Reads resources by the texts of their keys. A key without a row is left out. */
export async function readByKeys(
  client: Client,
  resource: Resource,
  keys: readonly string[],
): Promise<ReadonlyMap<string, Row>> {
  const rows = await prismaModel(client, resource)
    .findMany({ where: withKeys(resource, keys.map(keyOfText)) })
    .catch(rejectUnavailable)
  return new Map(rows.map((row) => [keyText(keyOf(resource, row)), row]))
}

/** Reads a part of a collection (SPEC §4.1). */
export function readList(client: Client, resource: Resource, request: ListRequest): Promise<List> {
  return prismaModel(client, resource).list(resource, request)
}

/**
 * Reads the same part of the lists of several parents, as a map by the parents' identifiers. A list contains
 * the resources that the parent owns or that refer to it. A missing parent has no list.
 */
export function readLists(
  client: Client,
  parent: Resource,
  resource: Resource,
  parentIds: readonly string[],
  request: ListRequest,
): Promise<ReadonlyMap<string, List>> {
  const parents = {
    resource: parent,
    ids: parentIds.filter(isIdentifier),
    column: listColumn(parent, resource),
  }
  return prismaModel(client, resource).lists(resource, parents, request)
}

/** Counts and measures the groups of a collection: exactly where that of doubles overflows in any group. */
export function aggregate(client: Client, resource: Resource, request: AggregateRequest): Promise<Group[]> {
  const model = prismaModel(client, resource)
  return model.measureGroups(resource, request).catch((error) => {
    if (!isOverflow(error)) throw error
    return model.measureGroups(resource, { ...request, exact: true })
  })
}

const PAGE_ROWS = 500

/**
 * Reads all rows of a resource in pages, ordered by key. Each page begins after the last key of the previous
 * one, so memory use is constant and concurrent changes neither repeat nor skip rows.
 */
export async function* allRows(client: Client, resource: Resource): AsyncGenerator<Row> {
  const { parentField } = resource
  const orderBy = [...(parentField ? [{ [parentField]: 'asc' }] : []), { id: 'asc' }]
  let where = {}
  for (;;) {
    const rows = await prismaModel(client, resource)
      .findMany({ where, orderBy, take: PAGE_ROWS })
      .catch(rejectUnavailable)
    yield* rows
    const last = rows.at(-1)
    if (!last || rows.length < PAGE_ROWS) return
    const after = { id: { gt: last.id } }
    const parent = parentField && last[parentField]
    where = parentField
      ? { OR: [{ [parentField]: { gt: parent } }, { [parentField]: parent, ...after }] }
      : after
  }
}
