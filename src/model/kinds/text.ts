import { type Checked, checkText, type FieldOf, type Kind, TEXT_DEFAULTS } from './kind.ts'
import { ecmaPattern, FORMATS, matchesPattern, patternProblem } from './pattern.ts'

export interface TextField extends FieldOf<'text'> {
  readonly maximumLength: number
  readonly pattern?: string
  readonly example?: string
  readonly format?: keyof typeof FORMATS
  readonly alsoMatches?: string
}

const NOT_BLANK = '[\\s\\S]*\\S[\\s\\S]*'

/** About as much as a request body holds. */
const MAXIMUM_LENGTH = 1_000_000

/** Of a text to compare with: a subscription compares each with every change. */
const MAXIMUM_OPERAND = 10_000

/** Longer texts need several lines in a form. */
const ONE_LINE = 500

function patternOf({ pattern, format }: TextField): string | undefined {
  return format ? FORMATS[format].pattern : pattern
}

function check(field: TextField, value: unknown): Checked {
  const checked = checkText(value, field.maximumLength)
  const pattern = patternOf(field)
  if ('problem' in checked || pattern === undefined || matchesPattern(pattern, value as string))
    return checked
  const problem = field.format
    ? `must be ${FORMATS[field.format].phrase}`
    : `must match the pattern ${pattern}, as ${JSON.stringify(field.example)} does`
  return { code: 'INVALID_FORMAT', problem }
}

export const textKind: Kind<TextField> = {
  type: 'text',
  guide: {
    field: text('E-mail address.', { maximumLength: 320, format: 'email', unique: true }),
    code: "text('E-mail address.', { maximumLength: 320, format: 'email', unique: true })",
    options: {
      maximumLength: 'Maximum length in Unicode code points, up to 1,000,000; 500 by default.',
      pattern:
        'A regular expression that the whole value matches: characters, `[classes]`, `(groups)`, `|`, `?`, `*`, `+`, `{m,n}`, and `\\` before punctuation. It needs `example`. The service and PostgreSQL check it alike, in linear time.',
      example: 'A value that matches the pattern.',
      format: '`email`, `uri` or `uuid`: the pattern of that format.',
      alsoMatches:
        'Another field. A filter on this field also finds resources whose other field has the value.',
    },
  },
  ...TEXT_DEFAULTS,
  constraint(column, field) {
    const pattern = patternOf(field)
    return [
      `char_length(${column}) <= ${field.maximumLength}`,
      ...(field.required ? [`NOT is_blank(${column})`] : []),
      ...(pattern === undefined ? [] : [`${column} ~ '^(?:${pattern.replaceAll("'", "''")})$'`]),
    ].join(' AND ')
  },
  problems({ maximumLength, pattern, format, example }) {
    if (!(maximumLength >= 1 && maximumLength <= MAXIMUM_LENGTH))
      return [`its maximumLength must be from 1 to ${MAXIMUM_LENGTH}`]
    if (pattern === undefined) return []
    if (format) return ['it has a format, which is a pattern already']
    const problem = patternProblem(pattern)
    if (problem) return [problem]
    if (example === undefined) return ['a pattern needs an example']
    return matchesPattern(pattern, example) ? [] : ['the example does not match the pattern']
  },
  uniqueBy: (column) => `folded(${column})`,
  scalar: 'String',
  schema(field) {
    const pattern = patternOf(field)
    return {
      type: 'string',
      maxLength: field.maximumLength,
      ...(field.format && { format: field.format }),
      ...(pattern !== undefined && { pattern: `^(?:${ecmaPattern(pattern)})$` }),
    }
  },
  notBlank: (field) => ({ minLength: 1, ...(patternOf(field) === undefined && { pattern: '\\S' }) }),
  characters: ({ maximumLength }) => maximumLength,
  check,
  fromQuery: ({ maximumLength }, text) => checkText(text, Math.min(maximumLength, MAXIMUM_OPERAND)),
  isFreeText: true,
  control(field) {
    const { format, maximumLength, required } = field
    const pattern = patternOf(field)
    const regex = pattern === undefined ? required && NOT_BLANK : ecmaPattern(pattern)
    return {
      type: (format && FORMATS[format].control) ?? (maximumLength > ONE_LINE ? 'textarea' : 'text'),
      maxLength: maximumLength,
      ...(regex && { regex }),
    }
  },
  sample({ maximumLength, format, example }, name, number) {
    if (format) return FORMATS[format].example(number)
    return (
      example ?? `${name.replaceAll(/[_.]/g, ' ')}${number === 0 ? '' : ` №${number}`}`.slice(-maximumLength)
    )
  },
}

/** The default length of 500 characters fits into an index entry. */
export function text(description: string, options: Partial<Omit<TextField, 'type'>> = {}): TextField {
  return { type: 'text', description, maximumLength: 500, ...options }
}
