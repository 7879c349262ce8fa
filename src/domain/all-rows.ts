import { type Client, modelOf } from '../database/client.ts'
import type { Resource } from './model/resource.ts'
import type { Row } from './model/row.ts'

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
    const rows = await modelOf(client, resource).findMany({ where, orderBy, take: PAGE_ROWS })
    yield* rows
    const last = rows.at(-1)
    if (!last || rows.length < PAGE_ROWS) return
    where = afterKey(parentField, last)
  }
}

function afterKey(parentField: string | undefined, last: Row): object {
  if (!parentField) return { id: { gt: last.id } }
  const parent = last[parentField]
  return { OR: [{ [parentField]: { gt: parent } }, { [parentField]: parent, id: { gt: last.id } }] }
}
