import { Prisma } from './generated/client.ts'

/** From here on Prisma keeps 16 digits of a double, which may have 17; below it keeps them all. */
const EXACT_BELOW = 2 ** 53

/**
 * A value as it is to be handed to Prisma, so that no digit of a number is lost on the way to the
 * database. Only numbers that are larger than any count are changed, to Prisma's decimals.
 */
export function exactly(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(exactly)
  return typeof value === 'number' && Math.abs(value) >= EXACT_BELOW ? new Prisma.Decimal(value) : value
}
