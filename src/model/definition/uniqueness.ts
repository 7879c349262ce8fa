import { kindOf } from './fields.ts'
import { type Leaf, type Resource, tableName } from './resource.ts'

/**
 * The leaves whose values, taken together, must be unique, ending with the leaf itself; undefined if it is not unique.
 * Resources in which any of them is unset are not compared.
 */
export function uniqueLeaves({ leaves }: Resource, leaf: Leaf): readonly Leaf[] | undefined {
  const { unique } = leaf.field
  if (!unique) return undefined
  const within = unique === true ? [] : [unique.within].flat()
  return [...within.flatMap((name) => leaves.filter((other) => other.name === name)), leaf]
}

export function uniqueIndexName({ path }: Resource, leaves: readonly Leaf[]): string {
  return `${tableName(path)}_${leaves.map(({ column }) => column).join('_')}_key`
}

/** The expression for a column of a unique index, or for an operand that is compared with it. */
export function uniqueExpression({ parentField }: Resource, { column, field }: Leaf, operand: string) {
  return column === parentField ? operand : (kindOf(field).uniqueBy?.(operand) ?? operand)
}
