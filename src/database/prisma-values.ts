import type { Resource } from '../domain/model/resource.ts'
import type { Columns } from '../domain/model/row.ts'
import { Prisma } from './generated/client.ts'

/** From here on Prisma keeps 16 digits of a double, which may have 17; below it keeps them all. */
const EXACT_BELOW = 2 ** 53

/**
 * The columns of a row as Prisma's methods take them: numbers withoutLoss; and of the two nulls that Prisma knows
 * for a JSON column, the database's.
 */
export function toPrisma({ leaves }: Resource, columns: Columns): Columns {
  const unset = leaves.filter(({ field, column }) => field.type === 'fractions' && columns[column] === null)
  return {
    ...Object.fromEntries(Object.entries(columns).map(([column, value]) => [column, withoutLoss(value)])),
    ...Object.fromEntries(unset.map(({ column }) => [column, Prisma.DbNull])),
  }
}

/** A value without the loss of a digit: only numbers that are larger than any count become Prisma's decimals. */
export function withoutLoss(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutLoss)
  return typeof value === 'number' && Math.abs(value) >= EXACT_BELOW ? new Prisma.Decimal(value) : value
}
