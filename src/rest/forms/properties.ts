import { INTEGER_RANGE, type LeafField } from '../../domain/model/fields.ts'
import type { Leaf, Resource } from '../../domain/model/resource.ts'
import { label } from '../nouns.ts'
import type { Urls } from '../urls.ts'

/** A property of a template (HAL-FORMS, property element). Its name is the path of a member: `range.min`. */
export interface FormProperty {
  readonly name: string
  readonly prompt: string
  /** A type of HAL-FORMS; some clients fail on others. */
  readonly type?: string
  /** What the text stands for: our extension, named after the keyword of JSON Schema. */
  readonly format?: 'date-time' | 'object'
  readonly required?: true
  readonly readOnly?: true
  readonly value?: unknown
  readonly min?: number
  readonly max?: number
  readonly step?: number
  readonly maxLength?: number
  readonly regex?: string
  readonly placeholder?: string
  readonly options?: FormOptions
}

/** The values to choose from: given here, or the items of a list (HAL-FORMS, options element). */
interface FormOptions {
  readonly inline?: readonly (string | { readonly prompt: string; readonly value: unknown })[]
  readonly link?: { readonly href: string; readonly type: string }
  readonly promptField?: string
  readonly valueField?: string
  /** The current value. Clients that look at this alone would select another one (HAL-FORMS, `selectedValues`). */
  readonly selectedValues?: readonly unknown[]
  readonly minItems: 0 | 1
  readonly maxItems: 1
}

/** Makes a property with links below a base. */
export type MakeProperty = (urls: Urls) => FormProperty

/** Text with more characters than this needs several lines. */
const ONE_LINE = 500

/** RFC 3339 with at most milliseconds, or a date alone: how timestamps are sent. */
const TIMESTAMP = '\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+\\-]\\d{2}:\\d{2}))?'

/** What a template says of a field. What does not depend on the request is computed once. */
export function formProperty({ name, field }: Leaf, resources: readonly Resource[]): MakeProperty {
  const fixed: FormProperty = {
    name,
    prompt: label(name),
    ...(field.required && !field.readOnly && { required: true }),
    ...(field.readOnly && { readOnly: true }),
    ...constraints(field),
  }
  if (field.type !== 'reference' || field.readOnly) return () => fixed
  const target = resources.find(({ path }) => path === field.to) as Resource
  const options = { promptField: promptField(target), valueField: 'id', ...choices(field) }
  return (urls) => ({
    ...fixed,
    options: { link: { href: urls.collection(target, undefined), type: 'application/hal+json' }, ...options },
  })
}

function constraints(field: LeafField): Partial<FormProperty> {
  switch (field.type) {
    case 'text':
      return {
        type: field.maximumLength > ONE_LINE ? 'textarea' : 'text',
        maxLength: field.maximumLength,
        ...(field.required && { regex: '[\\s\\S]*\\S[\\s\\S]*' }),
      }
    case 'reference':
      return { type: 'text' }
    case 'number':
      return { type: 'number', ...bounds(field) }
    case 'integer':
      return { type: 'number', step: 1, ...bounds({ ...INTEGER_RANGE, ...field }) }
    case 'timestamp':
      return { type: 'text', format: 'date-time', regex: TIMESTAMP, placeholder: '2031-04-05T06:07:08.900Z' }
    case 'enumeration':
      return { options: { inline: field.values, ...choices(field) } }
    case 'boolean':
      return { options: { inline: YES_OR_NO, ...choices(field) } }
    case 'fractions':
      return { type: 'textarea', format: 'object', placeholder: '{"name": 0.5}' }
  }
}

const YES_OR_NO = [
  { prompt: 'yes', value: true },
  { prompt: 'no', value: false },
]

function bounds({ minimum, maximum }: { minimum?: number; maximum?: number }): Partial<FormProperty> {
  return { ...(minimum !== undefined && { min: minimum }), ...(maximum !== undefined && { max: maximum }) }
}

function choices({ required }: LeafField): { minItems: 0 | 1; maxItems: 1 } {
  return { minItems: required ? 1 : 0, maxItems: 1 }
}

/** The field that people know a resource by: its first text that is always there, or else its first text. */
export function promptField({ writable }: Resource): string {
  const texts = writable.filter(({ field }) => field.type === 'text')
  return (texts.find(({ field }) => field.required) ?? texts[0])?.name ?? 'id'
}
