import { type Checked, COMPARISONS, type FieldOf, type FieldOptions, type Kind } from './kind.ts'
import { checkTime, inYears } from './timestamp.ts'

const DAY = /^(?<day>\d{4}-\d{2}-\d{2})$/
const EXAMPLE = '2031-06-01'
const CHARACTERS = EXAMPLE.length

/** Days are stored as midnight in UTC, as Prisma does. */
function check(_: unknown, value: unknown): Checked {
  return checkTime(value, DAY, 'date', EXAMPLE)
}

const dayOf = (midnight: Date) => midnight.toISOString().slice(0, CHARACTERS)

export const dateKind: Kind<FieldOf<'date'>> = {
  type: 'date',
  guide: {
    field: date('Day of publication.'),
    code: "date('Day of publication.')",
    options: {},
  },
  columnType: 'DATE',
  dataType: 'date',
  prismaType: 'DateTime',
  prismaAttribute: () => '@db.Date',
  constraint: (column) => `${column} BETWEEN '0001-01-01' AND '9999-12-31'`,
  fromDatabase: (text) => new Date(`${inYears(text).slice(0, CHARACTERS)}T00:00:00Z`),
  scalar: { name: 'Date', description: 'A day without a time: 2031-06-01.' },
  operators: COMPARISONS,
  isTimed: true,
  schema: () => ({ type: 'string', format: 'date' }),
  characters: () => CHARACTERS,
  check,
  toJson: dayOf,
  fromQuery: check,
  control: () => ({ type: 'date', placeholder: EXAMPLE }),
  sample: (_, __, number) => dayOf(new Date(Date.UTC(2031, 5, 1 + Math.trunc(number)))),
}

/** A day without a time: `2031-06-01`. */
export function date(description: string, options: FieldOptions = {}): FieldOf<'date'> {
  return { type: 'date', description, ...options }
}
