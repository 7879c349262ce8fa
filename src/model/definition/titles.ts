import { valueAt } from '../rows/columns.ts'
import { kindOf, type LeafField } from './fields.ts'
import type { Resource, ResourceDefinition, Values } from './resource.ts'

/** The usual names of fields with a name. */
const USUAL = ['name', 'title', 'label', 'subject']

/** The fields of a declared title, and the relations whose titles it has; none of a function. */
export function titleFields({ title = [] }: Pick<ResourceDefinition, 'title'>): readonly string[] {
  return typeof title === 'function' ? [] : [title].flat()
}

/** The link relations of a declared title. Fields precede them; a view may lack some of either. */
export function relationsInTitle(resource: Resource): readonly string[] {
  const { leaves, parentField } = resource
  const references = leaves.flatMap(({ field }) => (field.type === 'reference' ? [field.relation] : []))
  const all = parentField === undefined ? references : [...references, 'parent']
  return titleFields(resource).filter(
    (part) => all.includes(part) && !leaves.some(({ name }) => name === part),
  )
}

/** Whether a title has that of another resource, which changes without this one. */
export function hasRelatedTitle(resource: Resource): boolean {
  return relationsInTitle(resource).length > 0
}

/**
 * The field that names a resource for people: the first of a declared title or, without one, a text with a usual name, the
 * first text that is required and unique, else required, else any. Never an address.
 */
export function nameField(resource: Resource): string {
  const { writable, leaves } = resource
  const [declared] = titleFields(resource)
  if (declared !== undefined && leaves.some(({ name }) => name === declared)) return declared
  const isAddress = (field: LeafField) => 'format' in field && field.format !== undefined
  const texts = writable.filter(({ field }) => kindOf(field).isFreeText && !isAddress(field))
  const usual = USUAL.flatMap((name) => texts.filter((leaf) => leaf.name === name))
  const required = texts.filter(({ field }) => field.required)
  const [found] = [...usual, ...required.filter(({ field }) => field.unique === true), ...required, ...texts]
  return found?.name ?? 'id'
}

/**
 * Names one resource for people. Times are texts in ISO 8601, which pages show in the zone of their readers.
 *
 * @param values those that the caller may read, in JSON
 * @param related the titles of other resources, by link relation
 */
export function titleOf(resource: Resource, values: Values, related: Values = {}): string {
  const { title, leaves } = resource
  const textOf = (name: string) => {
    const leaf = leaves.find((candidate) => candidate.name === name)
    const value = leaf && valueAt(values, leaf)
    if (Object.hasOwn(related, name)) return [String(related[name])]
    if (!leaf || value === undefined) return []
    const { choices } = kindOf(leaf.field).control(leaf.field)
    const chosen = choices?.find((choice) => typeof choice === 'object' && choice.value === value)
    return [typeof chosen === 'object' ? chosen.prompt : String(value)]
  }
  const text = typeof title === 'function' ? title(values) : titleFields(resource).flatMap(textOf).join(' ')
  return text || textOf(nameField(resource)).join('') || String(values['id'])
}
