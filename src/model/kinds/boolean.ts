import { EQUALITIES, type FieldOf, type FieldOptions, type Kind, wrongType } from './kind.ts'

const booleanIn = (text: string) => (text === 'true' ? true : text === 'false' ? false : text)

/** As programs write them in tables, in any case. */
const [TRUE, FALSE] = [/^(true|t|yes|y|1)$/i, /^(false|f|no|n|0)$/i]
const booleanInCell = (text: string) => (TRUE.test(text) ? true : FALSE.test(text) ? false : text)

export const booleanKind: Kind<FieldOf<'boolean'>> = {
  type: 'boolean',
  guide: {
    field: boolean('Whether it is in print.'),
    code: "boolean('Whether it is in print.')",
    options: {},
  },
  columnType: 'BOOLEAN',
  dataType: 'boolean',
  prismaType: 'Boolean',
  scalar: 'Boolean',
  operators: EQUALITIES,
  hasFewValues: true,
  schema: () => ({ type: 'boolean' }),
  check: (_, value) => (typeof value === 'boolean' ? { value } : wrongType('a boolean')),
  fromQuery: (field, text) => booleanKind.check(field, booleanIn(text)),
  fromCell: booleanInCell,
  cellForms: 'true, t, yes, y or 1, or false, f, no, n or 0',
  control: () => ({
    choices: [
      { prompt: 'yes', value: true },
      { prompt: 'no', value: false },
    ],
  }),
  sample: (_, __, number) => number % 2 === 1,
}

export function boolean(description: string, options: FieldOptions = {}): FieldOf<'boolean'> {
  return { type: 'boolean', description, ...options }
}
