import { DbNull, Decimal } from '@prisma/client/runtime/client'
import { kindOf } from '../model/kinds/index.ts'
import type { Resource } from '../model/resource.ts'
import type { Columns } from '../model/row.ts'

/** Columns with their values as Prisma stores them exactly. */
export function toData({ leaves }: Resource, columns: Columns): Columns {
  const data: Record<string, unknown> = { ...columns }
  for (const { column, field } of leaves) {
    const convert = CONVERSIONS[kindOf(field).prismaType]
    if (convert && column in data) data[column] = convert(data[column])
  }
  return data
}

/** By the type in the Prisma schema. */
const CONVERSIONS: Readonly<Record<string, (value: unknown) => unknown>> = {
  // Prisma stores null as the JSON value null.
  Json: (value) => value ?? DbNull,
  // Prisma rounds numbers beyond 2^53 to 16 digits, so that the greatest one overflows; as a Decimal, it keeps all 17.
  Float: (value) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) ? new Decimal(value as number) : value,
}
