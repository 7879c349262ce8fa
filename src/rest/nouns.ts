import { inWords } from '../model/labels.ts'
import type { Resource } from '../model/resource.ts'

export function noun({ name }: Pick<Resource, 'name'>): string {
  return inWords(name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`)).toLowerCase()
}

/** With its article: `a crew member`, `an atmosphere`; without one, `mission data`. */
export function nounWithArticle(resource: Pick<Resource, 'name'>): string {
  const name = noun(resource)
  if (/\bdata$/.test(name)) return name
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`
}
