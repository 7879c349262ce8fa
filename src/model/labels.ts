import type { Field } from './fields.ts'

/** The declared label, or else the name in words; for a reference, the name of the relation. */
export function labelOf(name: string, field: Field): string {
  return field.label ?? inWords('relation' in field ? field.relation : name)
}

/** The label with the unit: `Distance (parsecs)`. */
export function labelWithUnit(name: string, field: Field): string {
  const label = labelOf(name, field)
  return field.unit === undefined ? label : `${label} (${field.unit})`
}

/** `Host star` */
export function inWords(name: string): string {
  return capitalized(name.replaceAll(/[_-]/g, ' '))
}

/** `crew member` */
export function noun({ name }: { readonly name: string }): string {
  return inWords(name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`)).toLowerCase()
}

/** `a crew member`, `an atmosphere`, `mission data` */
export function nounWithArticle(resource: { readonly name: string }): string {
  return withArticle(noun(resource))
}

/** `an active mission` */
export function withArticle(noun: string): string {
  if (/\bdata$/.test(noun)) return noun
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
