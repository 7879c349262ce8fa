import { dateKind } from './date.ts'
import { decimalKind } from './decimal.ts'
import { type EnumerationField, enumerationKind } from './enumeration.ts'
import { INTEGER_RANGE, type IntegerField, integerKind } from './integer.ts'
import {
  type Checked,
  type FieldOf,
  type FieldOptions,
  JSON_DEFAULTS,
  type Kind,
  NUMBER_CHARACTERS,
  wrongType,
} from './kind.ts'
import { numberKind } from './number.ts'
import { text, textKind } from './text.ts'
import { timestampKind } from './timestamp.ts'

type ItemField = (typeof ITEMS)[keyof typeof ITEMS][0]['guide']['field']

export interface ListField extends FieldOf<'list'> {
  readonly item: ItemField
  readonly maximum: number
  readonly distinct?: true
}

const MAXIMUM_ITEMS = 1_000

const NO_STRING = '@.type() <> "string"'
const NO_NUMBER = '@.type() <> "number"'
const DAY = '[0-9]{4}-[0-9]{2}-[0-9]{2}'

/** The kinds of items, each with the condition (jsonpath) for items that the database refuses. */
const ITEMS = {
  text: [textKind, () => NO_STRING],
  integer: [integerKind, () => NO_NUMBER],
  number: [numberKind, () => NO_NUMBER],
  decimal: [decimalKind, () => NO_STRING],
  date: [dateKind, () => `${NO_STRING} || !(@ like_regex "^${DAY}$")`],
  timestamp: [timestampKind, () => `${NO_STRING} || !(@ like_regex "^${DAY}T[0-9:.]{12}Z$")`],
  enumeration: [
    enumerationKind,
    ({ values }: EnumerationField) =>
      `${NO_STRING} || !(${values.map((value) => `@ == "${value}"`).join(' || ')})`,
  ],
} as const

function refusedItems({ item }: ListField): string {
  return ITEMS[item.type][1](item as EnumerationField)
}

function kindOfItem({ item }: ListField): Kind<ItemField> {
  return ITEMS[item.type][0] as unknown as Kind<ItemField>
}

/** Checks an item, and converts it to JSON, in which it is stored. */
function checkItem(field: ListField, item: unknown): Checked {
  const { check, toJson } = kindOfItem(field)
  const checked = check(field.item, item)
  return 'value' in checked && toJson ? { value: toJson(checked.value as never) } : checked
}

function check(field: ListField, value: unknown): Checked {
  if (!Array.isArray(value)) return wrongType('an array')
  const { maximum, distinct } = field
  if (value.length > maximum) return { code: 'TOO_LONG', problem: `must not have more than ${maximum} items` }
  const items: unknown[] = []
  for (const [index, one] of value.entries()) {
    const checked = checkItem(field, one)
    if ('problem' in checked)
      return { ...checked, problem: `must have valid items: item ${index} ${checked.problem}` }
    items.push(checked.value)
  }
  if (distinct && new Set(items).size < items.length)
    return { code: 'INVALID_VALUE', problem: 'must not have duplicate items' }
  return { value: items }
}

export const listKind: Kind<ListField> = {
  type: 'list',
  guide: {
    field: list(text('A tag.', { maximumLength: 40 }), 'Tags.', {
      maximum: 20,
      distinct: true,
      index: 'filter',
    }),
    code: "list(text('A tag.', { maximumLength: 40 }), 'Tags.', { maximum: 20, distinct: true, index: 'filter' })",
    options: {
      item: 'The field that describes each item: a text, an integer, a number, a decimal, a date, a timestamp or an enumeration.',
      maximum: `The number of items, up to ${MAXIMUM_ITEMS}; 100 by default.`,
      distinct: 'Items must not be repeated.',
    },
  },
  problems({ item, maximum, index }) {
    const itemKind = ITEMS[item?.type]?.[0] as Kind<ItemField> | undefined
    if (!itemKind) return [`its items must be of one of the kinds ${Object.keys(ITEMS).join(', ')}`]
    return [
      ...(itemKind.problems?.(item) ?? []).map((problem) => `its items: ${problem}`),
      ...(maximum >= 1 && maximum <= MAXIMUM_ITEMS ? [] : [`its maximum must be from 1 to ${MAXIMUM_ITEMS}`]),
      ...(index !== undefined && index !== 'filter'
        ? ['a list has no order to sort by; its index can be filter']
        : []),
    ]
  },
  ...JSON_DEFAULTS,
  // CASE prevents evaluation for values that are not arrays.
  constraint: (column, field) =>
    `CASE WHEN jsonb_typeof(${column}) = 'array' THEN jsonb_array_length(${column}) <= ${field.maximum}` +
    ` AND NOT jsonb_path_exists(${column}, 'strict $[*] ? (${refusedItems(field)})') ELSE ${column} IS NULL END`,
  indexedBy: (column) => `USING gin (${column} jsonb_path_ops)`,
  prismaIndex: (column) => `index([${column}(ops: JsonbPathOps)], type: Gin)`,
  itemOf: ({ item }) => item,
  operators: ['contains', 'isSet'],
  isUnordered: true,
  contains: (column, parameter) => `${column} @> ${parameter}::jsonb`,
  operand(field, value) {
    const checked = checkItem(field, value)
    return JSON.stringify('problem' in checked ? value : checked.value)
  },
  holds(field, value) {
    const item = JSON.parse(listKind.operand?.(field, value) as string)
    return (items: unknown[]) => items.includes(item)
  },
  schema: (field) => ({
    type: 'array',
    items: kindOfItem(field).schema(field.item),
    maxItems: field.maximum,
    ...(field.distinct && { uniqueItems: true }),
  }),
  characters(field) {
    const ofItem = kindOfItem(field).characters?.(field.item) ?? NUMBER_CHARACTERS
    return field.maximum * (ofItem + ITEM_PUNCTUATION)
  },
  check,
  shown(field, value: unknown) {
    const type = typeof kindOfItem(field).sample(field.item, '', 1)
    const isInteger = (item: unknown) =>
      'value' in integerKind.check({ ...INTEGER_RANGE } as IntegerField, item)
    const fits = (item: unknown) => typeof item === type && (field.item.type !== 'integer' || isInteger(item))
    if (value === null) return field.required ? [] : null
    if (!Array.isArray(value)) return fits(value) ? [value] : []
    return value.every(fits) ? value : value.filter(fits)
  },
  fromQuery: (field, text) => kindOfItem(field).fromQuery(field.item, text),
  control: (field) => ({
    type: 'textarea',
    format: 'json',
    placeholder: JSON.stringify(sampleOf(field, 'item', 1)),
  }),
  sample: sampleOf,
}

/** The quotes and the comma. */
const ITEM_PUNCTUATION = 3

function sampleOf(field: ListField, name: string, number: number): unknown[] {
  return [kindOfItem(field).sample(field.item, name, number)]
}

/**
 * Several values of one kind, in the order sent. A filter finds resources whose list contains an item. A patch replaces
 * the whole list; an empty list is a value.
 */
export function list(
  item: ItemField,
  description: string,
  { maximum = 100, ...options }: FieldOptions & Partial<Pick<ListField, 'maximum' | 'distinct'>> = {},
): ListField {
  return { type: 'list', item, description, maximum, ...options }
}
