import { isStorable } from '../values.ts'
import { type Checked, type FieldOf, type FieldOptions, JSON_DEFAULTS, type Kind } from './kind.ts'
import { INEXACT } from './number.ts'

export interface JsonField extends FieldOf<'json'> {
  readonly maximumBytes: number
}

/** PostgreSQL writes numbers with all digits, and a space after each comma and colon. */
const LARGEST_EXPANSION = 64

function check({ maximumBytes }: JsonField, value: unknown): Checked {
  if (!everyPart(value, (part) => typeof part !== 'string' || isStorable(part))) {
    const problem = 'must not contain U+0000 or a lone surrogate in values or member names'
    return { code: 'INVALID_VALUE', problem }
  }
  if (!everyPart(value, (part) => typeof part !== 'number' || Number.isFinite(part))) {
    const isInside = typeof value !== 'number'
    return { code: 'OUT_OF_RANGE', problem: isInside ? `has a number that ${INEXACT}` : INEXACT }
  }
  if (Buffer.byteLength(JSON.stringify(value)) > maximumBytes)
    return { code: 'TOO_LONG', problem: `must not be longer than ${maximumBytes} bytes as JSON` }
  return { value }
}

/** Whether this holds for all values and member names. The parser of requests limits the depth. */
function everyPart(value: unknown, holds: (part: unknown) => boolean): boolean {
  if (typeof value !== 'object' || value === null) return holds(value)
  return Object.entries(value).every(([name, inner]) => holds(name) && everyPart(inner, holds))
}

export const jsonKind: Kind<JsonField> = {
  type: 'json',
  guide: {
    field: json('Remarks of any form.', { maximumBytes: 2_000 }),
    code: "json('Remarks of any form.', { maximumBytes: 2_000 })",
    options: { maximumBytes: 'The size as JSON without spaces, in UTF-8; 10,000 by default.' },
  },
  problems: ({ maximumBytes }) =>
    maximumBytes >= 2 && maximumBytes <= 1_000_000 ? [] : ['its maximumBytes must be from 2 to 1000000'],
  ...JSON_DEFAULTS,
  // JSONB holds larger numbers, which the driver reads as infinite.
  constraint: (column, { maximumBytes }) =>
    `octet_length(${column}::text) <= ${maximumBytes * LARGEST_EXPANSION}` +
    ` AND NOT jsonb_path_exists(${column}, '$.** ? (@ > ${Number.MAX_VALUE} || @ < -${Number.MAX_VALUE})')`,
  scalar: { name: 'JSON', description: 'Any JSON value.' },
  schema: () => ({}),
  characters: ({ maximumBytes }) => maximumBytes,
  check,
  control: () => ({ type: 'textarea', format: 'json', placeholder: '{"any": ["JSON"]}' }),
  sample: (_, name, number) => ({ [name]: [number, { nested: true }, 'text'] }),
}

/** Any JSON value except null, which unsets the field. It cannot be filtered or sorted. */
export function json(
  description: string,
  { maximumBytes = 10_000, ...options }: FieldOptions & Partial<Pick<JsonField, 'maximumBytes'>> = {},
): JsonField {
  return { type: 'json', description, maximumBytes, ...options }
}
