import { kindOf, type LeafField } from '../../model/fields.ts'
import type { Control } from '../../model/kinds/kind.ts'
import type { Leaf, Resource } from '../../model/resource.ts'
import { label } from '../nouns.ts'
import type { Urls } from '../urls.ts'

/** A property of a template (HAL-FORMS, property element). Its name is the path of a member: `range.min`. */
export interface FormProperty extends Omit<Control, 'choices'> {
  readonly name: string
  readonly prompt: string
  readonly required?: true
  readonly readOnly?: true
  readonly value?: unknown
  readonly options?: FormOptions
}

/** The values to choose from: given here, or the items of a list (HAL-FORMS, options element). */
interface FormOptions {
  readonly inline?: readonly (string | { readonly prompt: string; readonly value: unknown })[]
  readonly link?: { readonly href: string; readonly type: string }
  readonly promptField?: string
  readonly valueField?: string
  /** The current value, for clients that ignore `value` here (HAL-FORMS, `selectedValues`). */
  readonly selectedValues?: readonly unknown[]
  readonly minItems: 0 | 1
  readonly maxItems: 1
}

export type MakeProperty = (urls: Urls) => FormProperty

/** The property for a field. What does not depend on the request is computed once. */
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
  const { choices: inline, ...control } = kindOf(field).control(field)
  return { ...control, ...(inline && { options: { inline, ...choices(field) } }) }
}

function choices({ required }: LeafField): { minItems: 0 | 1; maxItems: 1 } {
  return { minItems: required ? 1 : 0, maxItems: 1 }
}

/** The field that people recognise a resource by: its first required text, or else its first text. */
export function promptField({ writable }: Resource): string {
  const texts = writable.filter(({ field }) => kindOf(field).isFreeText)
  return (texts.find(({ field }) => field.required) ?? texts[0])?.name ?? 'id'
}
