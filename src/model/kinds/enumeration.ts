import { EQUALITIES, type FieldOf, type FieldOptions, type Kind, wrongType } from './kind.ts'

export interface EnumerationField extends FieldOf<'enumeration'> {
  readonly values: readonly string[]
}

/** What GraphQL takes as a value of an enumeration. */
const VALUE_NAME = /^(?!(?:true|false|null)$)[A-Za-z_]\w*$/

export const enumerationKind: Kind<EnumerationField> = {
  type: 'enumeration',
  guide: {
    field: {
      type: 'enumeration',
      description: 'Status.',
      values: ['draft', 'published'],
      initially: 'draft',
    },
    code: "enumeration(['draft', 'published'], 'Status.', { initially: 'draft' })",
    options: {
      values: 'The values, which are names of letters, digits and underscores.',
    },
  },
  columnType: 'TEXT COLLATE "C"',
  dataType: 'text',
  prismaType: 'String',
  problems({ values }) {
    if (!Array.isArray(values)) return ['its values must be an array']
    const wrong = values.filter((value, index) => !VALUE_NAME.test(value) || values.indexOf(value) !== index)
    return [
      ...(values.length === 0 ? ['it needs a value'] : []),
      ...wrong.map((value) => `the value ${JSON.stringify(value)} must be a GraphQL name, and once`),
    ]
  },
  constraint: (column, { values }) =>
    `${column} IN (${values.map((value) => `'${value.replaceAll("'", "''")}'`).join(', ')})`,
  operators: EQUALITIES,
  hasFewValues: true,
  schema: ({ values }) => ({ type: 'string', enum: values }),
  characters: ({ values }) => Math.max(...values.map(({ length }) => length)),
  check({ values }, value) {
    if (typeof value !== 'string') return wrongType('a string')
    if (values.includes(value)) return { value }
    return { code: 'INVALID_VALUE', problem: `must be one of ${values.join(', ')}` }
  },
  fromQuery: (field, text) => enumerationKind.check(field, text),
  isText: true,
  control: ({ values }) => ({ choices: values }),
  sample: ({ initially, values }) => initially ?? values[0],
}

/** One of a fixed list of values. */
export function enumeration(
  values: readonly string[],
  description: string,
  options: FieldOptions = {},
): EnumerationField {
  return { type: 'enumeration', values, description, ...options }
}
