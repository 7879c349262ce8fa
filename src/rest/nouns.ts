import type { Resource } from '../model/resource.ts'

/** What one resource is called in a sentence: `crew member`. */
export function noun({ name }: Pick<Resource, 'name'>): string {
  return words(name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`)).toLowerCase()
}

/** The noun with its article: `a crew member`, `an atmosphere`. Data are not counted. */
export function nounWithArticle(resource: Pick<Resource, 'name'>): string {
  const name = noun(resource)
  if (/\bdata$/.test(name)) return name
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`
}

/** What a field or a collection is called in front of its value: `Crew capacity`. */
export function label(name: string): string {
  const text = words(name)
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function words(name: string): string {
  return name.replaceAll(/[_-]/g, ' ').replaceAll('.', ': ')
}
