import { INTEGER_RANGE } from '../domain/model/fields.ts'
/**
 * The entity tag of a resource: strong, made of its identifier and its version (RFC 9110 §8.8.3). The
 * only place where one is made; identifiers hold no character that a tag could not.
 */
export function entityTag(id: string, version: number): string {
  return `"${id}:${version}"`
}

/**
 * The versions of a resource that a list of entity tags names. Weak tags, and tags that were never
 * this resource's, name none. Undefined for `*`, which any version matches (RFC 9110 §13.1.1).
 */
export function versionsIn(header: string, id: string): number[] | undefined {
  if (header.trim() === '*') return undefined
  const tags = header.split(',').map((tag) => tag.trim())
  return tags.filter((tag) => tag.startsWith(`"${id}:`)).flatMap((tag) => version(tag, id))
}

function version(tag: string, id: string): number[] {
  const digits = tag.slice(id.length + 2, -1)
  return tag.endsWith('"') && /^[1-9]\d{0,9}$/.test(digits) && Number(digits) <= INTEGER_RANGE.maximum
    ? [Number(digits)]
    : []
}
