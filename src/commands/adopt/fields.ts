import { escapeIdentifier } from 'pg'
import type { Column, Measure } from './catalogue.ts'
import { optionsText, quoted } from './typescript.ts'

const TIME = 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'

const TEXTS =
  /^(text|citext|name|bpchar|character|"char"|time|interval|inet|cidr|macaddr|money|xml|bit|int\d*range)/

/** The call that makes a field; undefined if no kind holds the type. */
export function callOf(
  { type, values }: Column,
  { length, scale }: Measure,
  text: string,
  options: readonly string[],
): string | undefined {
  const end = optionsText(options)
  const [, digits, places] = /^numeric\((\d+),(\d+)\)$/.exec(type) ?? []
  const [, characters] = /^(?:character varying|character)\((\d+)\)$/.exec(type) ?? []
  const room = Math.min(Math.max(500, 2 * length), 1_000_000)
  if (values?.every((value) => /^(?!(?:true|false|null)$)[A-Za-z_]\w*$/.test(value)))
    return `enumeration([${values.map(quoted).join(', ')}], ${text}${end})`
  if (/\[\]$/.test(type)) return `json(${text}, { ${[...options, `maximumBytes: ${2 * room}`].join(', ')} })`
  if (type === 'uuid') return `text(${text}, { ${[...options, 'maximumLength: 36'].join(', ')} })`
  if (/^jsonb?$/.test(type))
    return `json(${text}, { ${[...options, `maximumBytes: ${20 * room}`].join(', ')} })`
  if (/^(smallint|integer)$/.test(type)) return `integer(${text}${end})`
  if (type === 'bigint') return `decimal(19, 0, ${text}${end})`
  if (digits) return `decimal(${digits}, ${places}, ${text}${end})`
  if (type.startsWith('numeric'))
    return `decimal(${Math.min(40 + scale, 100)}, ${Math.min(scale, 60)}, ${text}${end})`
  if (/^(real|double precision)$/.test(type)) return `number(${text}${end})`
  if (type === 'boolean') return `boolean(${text}${end})`
  if (type === 'date') return `date(${text}${end})`
  if (type.startsWith('timestamp')) return `timestamp(${text}${end})`
  if (!values && !TEXTS.test(type)) return undefined
  return `text(${text}, { ${[...options, `maximumLength: ${characters ?? room}`].join(', ')} })`
}

/** The expression of a value in JSON, as requests have it. */
export function jsonValue({ name, type }: Column): string {
  const column = escapeIdentifier(name)
  if (/^timestamp.* with time zone$/.test(type)) return `to_char(${column} AT TIME ZONE 'UTC', '${TIME}')`
  if (/^timestamp/.test(type)) return `to_char(${column}, '${TIME}')`
  if (type === 'date') return `to_char(${column}, 'YYYY-MM-DD')`
  return /^(integer|smallint|boolean|real|double|json)|\[\]$/.test(type) ? column : `${column}::text`
}
