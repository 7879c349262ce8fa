import type { Resource } from '../domain/model/resource.ts'
import type { Columns } from '../domain/model/row.ts'
import { Prisma } from './generated/client.ts'

/** Prisma keeps only 16 digits of doubles from this value on; a double can have 17. */
const EXACT_BELOW = 2 ** 53

/**
 * Converts columns to arguments of Prisma's methods: numbers without loss of digits, and unset JSON columns
 * as NULL rather than JSON null.
 */
export function toPrisma({ leaves }: Resource, columns: Columns): Columns {
  const unset = leaves.filter(({ field, column }) => field.type === 'fractions' && columns[column] === null)
  return {
    ...Object.fromEntries(Object.entries(columns).map(([column, value]) => [column, withoutLoss(value)])),
    ...Object.fromEntries(unset.map(({ column }) => [column, Prisma.DbNull])),
  }
}

/** Converts large numbers to Prisma's decimals, which keep all digits. */
export function withoutLoss(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutLoss)
  return typeof value === 'number' && Math.abs(value) >= EXACT_BELOW ? new Prisma.Decimal(value) : value
}
