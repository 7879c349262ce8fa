import { kindOf } from './fields.ts'
import { type Leaf, type Resource, tableName } from './resource.ts'

/**
 * The leaves whose values, taken together, no two resources may share: the leaf itself comes last. Undefined if its value
 * need not be unique. A resource in which any of these is unset shares nothing.
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

/** The expression that a column of a unique index, or an operand compared with it, stands in. */
export function uniqueExpression(
  { parentField }: Resource,
  { column, field }: Leaf,
  operand: string,
): string {
  return column === parentField ? operand : (kindOf(field).uniqueBy?.(operand) ?? operand)
}
