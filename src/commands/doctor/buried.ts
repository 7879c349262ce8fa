import { escapeIdentifier, escapeLiteral } from 'pg'
import type { DatabaseClient } from '../../database/database-client.ts'
import { NAMED } from './parts.ts'

/** Triggers name the collection of a table, and the column of its parents. */
const SERVED = `SELECT relname::text AS name, tgrelid::regclass::text AS table, arguments[1] AS collection,
    NULLIF(arguments[2], '') AS parent
  FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    CROSS JOIN LATERAL string_to_array(encode(tgargs, 'escape'), E'\\\\000') AS arguments
  WHERE tgfoid = to_regproc('resource_before_insert') ORDER BY 1`

type Served = Readonly<Record<'name' | 'table' | 'collection', string>> & { readonly parent: string | null }

/** The tombstones of a table as `buried`, and the condition that one of them has the version of a row or a higher one. */
function buriedOf({ collection, parent }: Served) {
  const of = `WHERE collection = ${escapeLiteral(collection)}`
  return {
    tombstones: `(SELECT parent_id, id, max(version) AS version FROM (
        SELECT parent_id, id, version FROM tombstones ${of}
        UNION ALL SELECT parent_id, unnest(ids), version FROM tombstone_sets ${of}
      ) AS all_buried GROUP BY 1, 2) AS buried`,
    condition: `buried.id = living.id AND buried.version >= living.version
      AND buried.parent_id = ${parent === null ? `''` : `living.${escapeIdentifier(parent)}`}`,
  }
}

interface Buried extends Served {
  readonly ids: readonly string[]
  readonly count: number
}

/**
 * Rows whose tombstone has their version or a higher one, as after a table was restored without triggers: the next
 * versions of these rows were given before they were deleted.
 */
async function buriedIn(client: DatabaseClient): Promise<Buried[]> {
  const served = await client.$rows<Served>({ text: SERVED, values: [] })
  const found = served.map(async (one) => {
    const { tombstones, condition } = buriedOf(one)
    const text = `SELECT living.id, (count(*) OVER ())::int AS count FROM ${one.table} AS living, ${tombstones}
      WHERE ${condition} ORDER BY 1 LIMIT ${NAMED}`
    const rows = await client.$rows<{ id: string; count: number }>({ text, values: [] })
    return rows.slice(0, 1).map(({ count }) => ({ ...one, ids: rows.map(({ id }) => id), count }))
  })
  return (await Promise.all(found)).flat()
}

const said = ({ collection, count, ids }: Buried) =>
  `${collection}: ${count} rows were deleted once, such as ${ids.join(', ')}`

export async function buriedProblems(client: DatabaseClient): Promise<string[]> {
  return (await buriedIn(client)).map((one) => `${said(one)}; run npx halgraph doctor --repair`)
}

/** Gives these rows versions above those of their tombstones, which the feed of changes shows. */
export async function repairBuried(client: DatabaseClient): Promise<string[]> {
  const buried = await buriedIn(client)
  for (const one of buried) {
    const { tombstones, condition } = buriedOf(one)
    const trigger = escapeIdentifier(`${one.name}_before_update`)
    const text = `DO $repair$ BEGIN
      ALTER TABLE ${one.table} DISABLE TRIGGER ${trigger};
      UPDATE ${one.table} AS living SET version = next_version(buried.version) FROM ${tombstones} WHERE ${condition};
      ALTER TABLE ${one.table} ENABLE TRIGGER ${trigger};
    END $repair$`
    await client.$rows({ text, values: [] })
  }
  return buried.map((one) => `gave new versions: ${said(one)}`)
}
