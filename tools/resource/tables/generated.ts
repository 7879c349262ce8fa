import type { StoredTable } from './catalogue.ts'

/* An object belongs to the definitions if its name is one that they generate. All others were written by hand. */

/** The constraints, indexes and triggers of a table that `serve_resource`, `keep_row_count` or its definition make. */
export function generated(stored: StoredTable) {
  const { name, columns, constraints, indexes, triggers } = stored
  const among = (objects: ReadonlyMap<string, string>, names: readonly string[]) =>
    [...objects.keys()].filter((object) => names.includes(object))
  return {
    constraints: among(constraints, constraintNames(name, [...columns.keys()])),
    indexes: among(indexes, indexNames(name, stored)),
    triggers: [...triggers].flatMap(([trigger, text]) => (GENERATED_TRIGGER.test(text) ? [trigger] : [])),
  }
}

/** The names of the constraints that a definition with these columns can have, in the order of the columns. */
export function constraintNames(table: string, columns: readonly string[]): string[] {
  return [
    `${table}_pkey`,
    ...columns.flatMap((column) => [
      `${table}_${column}_check`,
      `${table}_${column}_fkey`,
      `${table}_one_for_each_${column.replace(/_id$/, '')}_check`,
    ]),
  ]
}

/** The names of the indexes that a definition can have, on columns whose names change from those of the stored table. */
export function indexNames(
  table: string,
  { name, columns, indexes, constraints }: StoredTable,
  renamed: (column: string) => string = (column) => column,
): string[] {
  const [, parent] = /^PRIMARY KEY \((\w+), id\)$/.exec(constraints.get(`${name}_pkey`) ?? '') ?? []
  const single = [...columns.keys()].flatMap((column) =>
    (parent === undefined ? [[column]] : [[column], [parent, column]]).flatMap((key) =>
      ['idx', 'id_idx', 'key'].map((ending) => ({ key, ending })),
    ),
  )
  const several = [...indexes.values()].flatMap((text) => {
    const key = (text.slice(text.indexOf('(')).match(/\w+/g) ?? []).filter((word) => columns.has(word))
    if (text.startsWith('CREATE UNIQUE')) return [{ key, ending: 'key' }]
    const isOrder = columns.get(key.at(-2) ?? '')?.default?.includes('statement_timestamp')
    return isOrder ? [{ key, ending: 'idx' }] : []
  })
  return [
    `${table}_search_idx`,
    ...[...single, ...several].map(({ key, ending }) => [table, ...key.map(renamed), ending].join('_')),
  ]
}

const GENERATED_TRIGGER =
  /EXECUTE FUNCTION (resource_author|resource_before_insert|resource_after_insert|resource_before_update|resource_after_update|resource_after_delete|refuse_truncate|row_count_after_(insert|update|delete)|resource_before_delete)\(/
