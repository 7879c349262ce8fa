import { escapeLiteral as literal, escapeIdentifier as quoted } from 'pg'
import { alterColumn, answered, changeStates } from '../tables/statements.ts'
import { type Column, fieldOf, nameOf } from '../tables/table.ts'
import type { Pair, Problem } from './comparison.ts'
import type { Step } from './step.ts'

/** How existing values get another type without a loss. */
interface Conversion {
  /** An expression of the new value, from one of the old value. */
  convert(value: string): string
  /** The JSON of a value changes, so its row needs a new version. */
  readonly isShown: boolean
  /** The values are stored as before, so PostgreSQL does not rewrite the table. */
  readonly isSame?: true
}

interface Type {
  readonly name: string
  readonly precision: number
  readonly scale: number
}

/** The digits of the longest 32-bit integer. */
const INTEGER_DIGITS = 10

const AS_TEXT: Readonly<Record<string, (value: string) => string>> = {
  text: (value) => value,
  integer: (value) => `${value}::text`,
  'double precision': (value) => `${value}::text`,
  boolean: (value) => `${value}::text`,
  numeric: (value) => `${value}::text`,
  date: (value) => `to_char(${value}, 'YYYY-MM-DD')`,
  'timestamp with time zone': (value) =>
    `to_char(${value} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
}

/** The types whose values are no texts in JSON. */
const NO_TEXTS = ['integer', 'double precision', 'boolean']

/**
 * The conversion between two types, as PostgreSQL formats them; undefined if it could lose values.
 *
 * @param kind of the field that gets the new type
 */
function conversionBetween(from: string, to: string, kind?: string): Conversion | undefined {
  const [old, wanted] = [parse(from), parse(to)]
  const isSameType = old.name === wanted.name && old.name !== 'numeric'
  if (from === to || isSameType) return conversion((value) => value, false, true)
  const digits = old.name === 'integer' ? INTEGER_DIGITS : old.precision - old.scale
  const fits = wanted.precision - wanted.scale >= digits && wanted.scale >= old.scale
  const asText = AS_TEXT[old.name]
  switch (wanted.name) {
    case 'double precision':
      return old.name === 'integer' ? conversion((value) => `${value}::float8`, false) : undefined
    case 'numeric': {
      if (!fits || !['integer', 'numeric'].includes(old.name)) return undefined
      const isSame = old.name === 'numeric' && old.scale === wanted.scale
      return conversion((value) => `${value}::${to}`, !isSame, isSame)
    }
    case 'timestamp with time zone':
      return old.name === 'date'
        ? conversion((value) => `(${value}::timestamp AT TIME ZONE 'UTC')`, true)
        : undefined
    case 'text':
      return asText && conversion(asText, NO_TEXTS.includes(old.name))
    case 'jsonb':
      if (!asText || kind !== 'json') return undefined
      return conversion((value) => `to_jsonb(${NO_TEXTS.includes(old.name) ? value : asText(value)})`, false)
    default:
      return undefined
  }
}

function conversion(convert: Conversion['convert'], isShown: boolean, isSame = false): Conversion {
  return { convert, isShown, ...(isSame && { isSame }) }
}

/** `numeric(10,2)`, `timestamp(3) with time zone`, `text COLLATE "C"` */
function parse(type: string): Type {
  const [, precision = '0', scale = '0'] = /\((\d+)(?:,(\d+))?\)/.exec(type) ?? []
  const name = type.replace(/ COLLATE .*/, '').replace(/\(.*\)/, '')
  return { name, precision: Number(precision), scale: Number(scale) }
}

/** How the values of an existing column get the type of its field; undefined if that could lose values. */
export function conversionOf({ stored, wanted }: Pair, { name, leaf }: Column): Conversion | undefined {
  const [now, then] = [stored.columns.get(name), wanted.columns.get(name)]
  return conversionBetween(now?.type ?? '', then?.type ?? '', leaf?.field.type)
}

export function lossyType(pair: Pair, column: Column): string[] {
  if (conversionOf(pair, column)) return []
  const { table, stored, wanted } = pair
  const [now, then] = [stored.columns.get(column.name)?.type, wanted.columns.get(column.name)?.type]
  return [
    `${fieldOf(table, column)}: changing the type ${now} to ${then} could lose values. Add a field with another ` +
      'name, and write a migration that converts the values.',
  ]
}

/** The rows with a value that the new type cannot hold; for types other than decimals, with any value. */
export function unfitRows({ stored, wanted }: Pair, { name }: Column): NonNullable<Problem['rows']> {
  const [now, then] = [stored, wanted].map(({ columns }) => parse(columns.get(name)?.type ?? ''))
  if (now?.name !== 'numeric' || then?.name !== 'numeric') return rowsWith(name)
  const value = quoted(name)
  const digits = then.precision - then.scale
  const condition = `${value} <> round(${value}, ${then.scale}) OR abs(${value}) >= 1e${digits}`
  return { condition, what: 'a value that does not fit' }
}

export function rowsWith(column: string): NonNullable<Problem['rows']> {
  return { condition: `${quoted(column)} IS NOT NULL`, what: 'a value' }
}

export function convertedType(pair: Pair, column: Column): Step[] {
  const { table, stored, wanted } = pair
  const [now, then] = [stored.columns.get(column.name), wanted.columns.get(column.name)]
  const conversion = conversionOf(pair, column)
  if (!now || now.type === then?.type || !conversion) return []
  const { convert, isShown, isSame } = conversion
  const type = column.type.replace(/ COLLATE .*/, '')
  const using = isSame ? '' : ` USING ${convert(quoted(column.name))}`
  return [
    {
      phase: 'column',
      table: table.name,
      says: `The field ${nameOf(column)} has the type ${then?.type} instead of ${now.type}. Its values stay${isShown ? ', and JSON shows them in another form' : ''}.`,
      ...(!isSame && { work: 'rewrites the table' }),
      sql: [
        // PostgreSQL does not convert a default.
        ...(now.default && !now.isGenerated ? [alterColumn(table.name, column.name, 'DROP DEFAULT')] : []),
        alterColumn(table.name, column.name, `TYPE ${column.type}${using}`),
        ...(now.default && column.default
          ? [alterColumn(table.name, column.name, `SET DEFAULT ${column.default}`)]
          : []),
        ...(isSame ? [] : convertDocuments(table.resource.path, column.name, now.type, type, convert)),
      ],
    },
  ]
}

/** Stored responses to requests with an idempotency key, and recorded changes, contain rows, too. */
function convertDocuments(
  path: string,
  column: string,
  from: string,
  to: string,
  convert: Conversion['convert'],
): string[] {
  const member = literal(column)
  const converted = (document: string, toJson: (value: string) => string) => {
    const old = `(${document} ->> ${member})::${from.replace(/ COLLATE .*/, '')}`
    return `${document} || jsonb_build_object(${member}, ${toJson(`(${convert(old)})::${to}`)})`
  }
  const update = (table: string, document: string, toJson: (value: string) => string) =>
    `UPDATE ${quoted(table)} SET ${document} = ${converted(document, toJson)} WHERE "collection" = ${literal(path)} AND ${document} ? ${member}`
  const recorded = (value: string) => `to_jsonb(${value})`
  return [
    update('idempotency_keys', '"answer"', (value) => answered(to, value)),
    update('recorded_changes', '"resource"', recorded),
    changeStates(path, column, (state) => converted(state, recorded)),
  ]
}
