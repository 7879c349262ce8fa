import type { StoredTable } from './catalogue.ts'

/* An object belongs to the definitions if its name is one that they generate. All others were written by hand. */

export function generatedConstraints({ name: table, columns, constraints }: StoredTable): string[] {
  return [...constraints.keys()].filter((name) => {
    if (name === `${table}_pkey` || /_one_for_each_\w+_check$/.test(name)) return true
    return [...columns.keys()].some((column) =>
      [`${table}_${column}_check`, `${table}_${column}_fkey`].includes(name),
    )
  })
}

export function generatedIndexes({ name: table, columns, indexes, constraints }: StoredTable): string[] {
  const [, parent] = /^PRIMARY KEY \((\w+), id\)$/.exec(constraints.get(`${table}_pkey`) ?? '') ?? []
  const prefixes = parent === undefined ? [table] : [table, `${table}_${parent}`]
  const endings = ['_idx', '_id_idx', '_key']
  const names = new Set(
    prefixes.flatMap((prefix) =>
      [...columns.keys()].flatMap((column) => endings.map((ending) => `${prefix}_${column}${ending}`)),
    ),
  )
  return [...indexes.keys()].filter((name) => names.has(name) || name === `${table}_search_idx`)
}

/** The triggers of `serve_resource` and `keep_row_count`. */
export function generatedTriggers({ triggers }: StoredTable): string[] {
  return [...triggers].flatMap(([name, text]) => (GENERATED_TRIGGER.test(text) ? [name] : []))
}

const GENERATED_TRIGGER =
  /EXECUTE FUNCTION (resource_author|resource_before_insert|resource_after_insert|resource_before_update|resource_after_update|resource_after_delete|refuse_truncate|row_count_after_insert|row_count_after_delete|resource_before_delete)\(/
