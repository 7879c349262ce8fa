import { EQUALITIES, type FieldOf, type FieldOptions, type Kind, TEXT_DEFAULTS, wrongType } from './kind.ts'

export interface EnumerationField extends FieldOf<'enumeration'> {
  readonly values: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  readonly transitions?: Readonly<Record<string, readonly string[]>>
}

/** The names that GraphQL accepts as enumeration values. */
const VALUE_NAME = /^(?!(?:true|false|null)$)[A-Za-z_]\w*$/

export const enumerationKind: Kind<EnumerationField> = {
  type: 'enumeration',
  guide: {
    field: enumeration(['draft', 'published'], 'Status.', { initially: 'draft' }),
    code: "enumeration(['draft', 'published'], 'Status.', { initially: 'draft' })",
    options: {
      values: 'The values: names with letters, digits and underscores.',
      labels: 'The values in words, on pages and in forms: `{ sold_out: "Sold out" }`.',
      transitions:
        'The values that can follow each value: `{ draft: ["published"], published: [] }`. A new resource starts with `initially`, unless it is [imported](COMMANDS.md#import) or seeded. Other changes are refused, and forms do not offer them. Without transitions, any value can follow any other.',
    },
  },
  ...TEXT_DEFAULTS,
  problems({ values, labels = {}, transitions, initially }) {
    if (!Array.isArray(values)) return ['its values must be an array']
    const wrong = values.filter((value, index) => !VALUE_NAME.test(value) || values.indexOf(value) !== index)
    const states = [...Object.keys(transitions ?? {}), ...Object.values(transitions ?? {}).flat()]
    return [
      ...(transitions &&
      (typeof initially !== 'string' || values.some((value) => !Object.hasOwn(transitions, value)))
        ? ['its transitions need initially, and an entry for each value']
        : []),
      ...states
        .filter((state) => !values.includes(state))
        .map((state) => `its transitions name ${state}, which is not a value`),
      ...Object.keys(labels)
        .filter((value) => !values.includes(value))
        .map((value) => `it has a label for ${value}, which is not a value`),
      ...(values.length === 0 ? ['it needs a value'] : []),
      ...wrong.map(
        (value) => `the value ${JSON.stringify(value)} must be a GraphQL name, and must not be repeated`,
      ),
    ]
  },
  constraint: (column, { values }) =>
    `${column} IN (${values.map((value) => `'${value.replaceAll("'", "''")}'`).join(', ')})`,
  operators: EQUALITIES,
  hasFewValues: true,
  schema: ({ values, labels }) => ({ type: 'string', enum: values, ...(labels && { 'x-labels': labels }) }),
  characters: ({ values }) => Math.max(...values.map(({ length }) => length)),
  check({ values }, value) {
    if (typeof value !== 'string') return wrongType('a string')
    if (values.includes(value)) return { value }
    return { code: 'INVALID_VALUE', problem: `must be one of ${values.join(', ')}` }
  },
  fromQuery: (field, text) => enumerationKind.check(field, text),
  control: ({ values, labels = {} }) => ({
    choices: values.map((value) =>
      Object.hasOwn(labels, value) ? { prompt: labels[value] as string, value } : value,
    ),
  }),
  choicesAfter({ transitions, initially }, current) {
    if (!transitions) return undefined
    if (current === undefined) return [initially]
    const next = Object.entries(transitions).find(([state]) => state === current)
    return [current, ...(next?.[1] ?? [])]
  },
  sample: ({ initially, values }) => (typeof initially === 'string' ? initially : values[0]),
}

export function enumeration(
  values: readonly string[],
  description: string,
  options: FieldOptions & Pick<EnumerationField, 'labels' | 'transitions'> = {},
): EnumerationField {
  return { type: 'enumeration', values, description, ...options }
}
