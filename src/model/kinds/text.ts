import { checkText, type FieldOf, type Kind, storableText } from './kind.ts'

export interface TextField extends FieldOf<'text'> {
  /** In Unicode code points. */
  readonly maximumLength: number
  /** Unique in the collection, regardless of case and surrounding blanks. */
  readonly unique?: true
  /** Unique among the resources of the same parent, regardless of case and surrounding blanks. */
  readonly uniqueWithinParent?: true
  /** A filter on this field also finds resources whose other field, named here, has the value. */
  readonly alsoMatches?: string
}

/** Text with more characters than this needs several lines. */
const ONE_LINE = 500

export const textKind: Kind<TextField> = {
  type: 'text',
  columnType: 'TEXT COLLATE "C"',
  dataType: 'text',
  prismaType: 'String',
  constraint(column, { maximumLength, required }) {
    const length = `char_length(${column}) <= ${maximumLength}`
    return required ? `${length} AND NOT is_blank(${column})` : length
  },
  uniqueBy: (column) => `folded(${column})`,
  scalar: 'String',
  operators: ['equals', 'in', 'contains'],
  schema: ({ maximumLength }) => ({ type: 'string', maxLength: maximumLength }),
  notBlank: { minLength: 1, pattern: '\\S' },
  characters: ({ maximumLength }) => maximumLength,
  check: ({ maximumLength }, value) => checkText(value, maximumLength),
  fromQuery: storableText,
  isText: true,
  isFreeText: true,
  control: ({ maximumLength, required }) => ({
    type: maximumLength > ONE_LINE ? 'textarea' : 'text',
    maxLength: maximumLength,
    ...(required && { regex: '[\\s\\S]*\\S[\\s\\S]*' }),
  }),
  sample: ({ maximumLength }, name, number) =>
    `${name.replaceAll(/[_.]/g, ' ')}${number === 0 ? '' : ` №${number}`}`.slice(-maximumLength),
}

/** A name or a short text. The default of 500 characters fits into an index entry. */
export function text(description: string, options: Partial<Omit<TextField, 'type'>> = {}): TextField {
  return { type: 'text', description, maximumLength: 500, ...options }
}
