import { kindOf } from './fields.ts'
import type { Resource, Values } from './resource.ts'

/** The usual names of fields with a name. */
const USUAL = ['name', 'title', 'label', 'subject']

/**
 * The field that names a resource for people: the first of a declared title or, without one, a text with a usual name, the
 * first text that is required and unique, else required, else any. Never an address.
 */
export function nameField({ title, writable, leaves }: Resource): string {
  const [declared] = typeof title === 'function' ? [] : [title ?? []].flat()
  if (declared !== undefined && leaves.some(({ name }) => name === declared)) return declared
  const texts = writable.filter(
    ({ field }) => kindOf(field).isFreeText && !('format' in field && field.format),
  )
  const usual = USUAL.flatMap((name) => texts.filter((leaf) => leaf.name === name))
  const required = texts.filter(({ field }) => field.required)
  const [found] = [...usual, ...required.filter(({ field }) => field.unique === true), ...required, ...texts]
  return found?.name ?? 'id'
}

/**
 * Names one resource for people.
 *
 * @param values those that the caller may read
 */
export function titleOf(resource: Resource, values: Values): string {
  const { title, leaves } = resource
  const textOf = (name: string) => {
    const value = leaves.find((leaf) => leaf.name === name)?.path.reduce<unknown>(memberOf, values)
    return value === undefined || value === null ? [] : [String(value)]
  }
  const text = typeof title === 'function' ? title(values) : [title ?? []].flat().flatMap(textOf).join(' ')
  return text || textOf(nameField(resource)).join('') || String(values['id'])
}

function memberOf(values: unknown, name: string): unknown {
  return (values as Values | undefined)?.[name]
}
