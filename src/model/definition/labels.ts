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

/** Converts a wire name in snake case, or a path with hyphens. */
export function camelCase(name: string): string {
  return name.replace(/[_-]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

interface Named {
  readonly name: string
  readonly one?: string
}

/** `crew member` */
export function noun({ name, one }: Named): string {
  return one ?? inWords(name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`)).toLowerCase()
}

/** `a crew member`, `an atmosphere`, `mission data` */
export function nounWithArticle(resource: Named): string {
  return withArticle(noun(resource))
}

/** `Crew members` */
export function plural({ path, many }: { readonly path: string; readonly many?: string }): string {
  return many === undefined ? inWords(path) : capitalized(many)
}

/** `an active mission` */
export function withArticle(noun: string): string {
  if (/\bdata$/.test(noun)) return noun
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The singular of a path: `TrainingRecord` for training-records. */
export function singularOf(path: string): string {
  const words = path.split('-')
  const last = (words.pop() ?? '')
    .replace(/ies$/, 'y')
    .replace(/(ss|sh|ch|x)es$/, '$1')
    .replace(/([^s])s$/, '$1')
  return [...words, last].map(capitalized).join('')
}
