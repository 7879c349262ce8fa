import { DbNull, Decimal } from '@prisma/client/runtime/client'
import { kindOf } from '../model/fields.ts'
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

const RETURN_ROWS = ['findMany', 'findFirst', 'create', 'updateManyAndReturn'] as const

type Rows = Readonly<Record<(typeof RETURN_ROWS)[number], (...parameters: never[]) => Promise<unknown>>>

/** A Prisma model that returns the same values as statements. */
export function withStoredValues<Model extends Rows>(resource: Resource, model: Model): Model {
  const convert = storedValues(resource)
  if (!convert) return model
  return new Proxy(model, {
    get(target, name: keyof Rows) {
      if (!RETURN_ROWS.includes(name)) return target[name]
      return async (...parameters: never[]) => convert(await target[name](...parameters))
    },
  })
}

/** A function that converts rows of Prisma, or one, to the values of statements; undefined if they are the same. */
export function storedValues({ leaves }: Resource): (<Rows>(rows: Rows) => Rows) | undefined {
  const converted = leaves.filter(({ field }) => kindOf(field).fromPrisma)
  if (converted.length === 0) return undefined
  return function convert<Rows>(row: Rows): Rows {
    if (Array.isArray(row)) return row.map(convert) as Rows
    if (!row) return row
    const values: Record<string, unknown> = { ...row }
    for (const { column, field } of converted)
      values[column] &&= kindOf(field).fromPrisma?.(values[column] as never, field)
    return values as Rows
  }
}

/** By the type in the Prisma schema. */
const CONVERSIONS: Readonly<Record<string, (value: unknown) => unknown>> = {
  // Prisma stores null as the JSON value null.
  Json: (value) => value ?? DbNull,
  // Prisma rounds numbers beyond 2^53 to 16 digits, so that the greatest one overflows; as a Decimal, it keeps all 17.
  Float: (value) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) ? new Decimal(value as number) : value,
}
