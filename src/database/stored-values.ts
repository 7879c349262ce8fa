import { DbNull, Decimal } from '@prisma/client/runtime/client'
import { kindOf } from '../model/definition/fields.ts'
import type { Leaf, Resource } from '../model/definition/resource.ts'
import type { Columns } from '../model/rows/row.ts'

/** Converts values that Prisma would otherwise not store exactly. */
export function toData({ leaves }: Resource, columns: Columns): Columns {
  const data: Record<string, unknown> = { ...columns }
  for (const { column, field } of leaves) {
    const convert = CONVERSIONS[kindOf(field).prismaType]
    if (convert && column in data) data[column] = convert(data[column])
  }
  return data
}

/** Keyed by the type in the Prisma schema. Prisma rounds some numbers to 16 digits, of which a Decimal keeps all 17. */
const CONVERSIONS: Readonly<Record<string, (value: unknown) => unknown>> = {
  // Numbers inside an object or an array are kept. Prisma stores null as the JSON value null.
  Json: (value) => (typeof value === 'number' ? new Decimal(value) : (value ?? DbNull)),
  // Those beyond 2^53, of which the greatest would overflow.
  Float: (value) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) ? new Decimal(value as number) : value,
}

const convertedLeaves = new WeakMap<Resource, readonly Leaf[]>()

/** Converts a row of Prisma to the values that the driver returns. */
export function fromPrisma<Row extends Columns>(resource: Resource, row: Row): Row {
  const converted =
    convertedLeaves.get(resource) ?? resource.leaves.filter(({ field }) => kindOf(field).fromPrisma)
  convertedLeaves.set(resource, converted)
  if (converted.length === 0) return row
  const values: Record<string, unknown> = { ...row }
  for (const { column, field } of converted)
    values[column] &&= kindOf(field).fromPrisma?.(values[column] as never, field)
  return values as Row
}
