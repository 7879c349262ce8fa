import type { StoredTable } from './catalogue.ts'

/*
 * Objects belong to the definitions if they have the name that a definition would give them. All others were written
 * by hand and stay.
 */

/** The constraints that a definition without their reason no longer wants. */
export function generatedConstraints({ name: table, columns, constraints }: StoredTable): string[] {
  return [...constraints.keys()].filter((name) => {
    if (name === `${table}_pkey` || /_one_for_each_\w+_check$/.test(name)) return true
    return [...columns.keys()].some((column) =>
      [`${table}_${column}_check`, `${table}_${column}_fkey`].includes(name),
    )
  })
}

/** The indexes, of one column or in the forms of lists and unique values, with the names of their columns. */
export function generatedIndexes({ name: table, columns, indexes, constraints }: StoredTable): string[] {
  const [, parent] = /^PRIMARY KEY \((\w+), id\)$/.exec(constraints.get(`${table}_pkey`) ?? '') ?? []
  const prefixes = parent === undefined ? [table] : [table, `${table}_${parent}`]
  const endings = ['_idx', '_id_idx', '_key']
  const names = new Set(
    prefixes.flatMap((prefix) =>
      [...columns.keys()].flatMap((column) => endings.map((ending) => `${prefix}_${column}${ending}`)),
    ),
  )
  return [...indexes.keys()].filter((name) => names.has(name))
}

/** The names of the triggers that `serve_resource` and `keep_row_count` make. */
export function generatedTriggers({ triggers }: StoredTable): string[] {
  return [...triggers].flatMap(([name, text]) => (GENERATED_TRIGGER.test(text) ? [name] : []))
}

const GENERATED_TRIGGER =
  /EXECUTE FUNCTION (resource_before_insert|resource_after_insert|resource_before_update|resource_after_delete|refuse_truncate|row_count_after_insert|row_count_after_delete)\(/
