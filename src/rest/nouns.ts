import type { Resource } from '../model/resource.ts'

export function noun({ name }: Pick<Resource, 'name'>): string {
  return words(name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`)).toLowerCase()
}

/** With its article: `a crew member`, `an atmosphere`; without one, `mission data`. */
export function nounWithArticle(resource: Pick<Resource, 'name'>): string {
  const name = noun(resource)
  if (/\bdata$/.test(name)) return name
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`
}

/** The label of a field or a collection: `Crew capacity`. */
export function label(name: string): string {
  const text = words(name)
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function words(name: string): string {
  return name.replaceAll(/[_-]/g, ' ').replaceAll('.', ': ')
}
