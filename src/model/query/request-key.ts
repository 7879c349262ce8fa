import type { Resource } from '../definition/resource.ts'

/**
 * A text that is the same for equal requests of a list, a page of changes or groups, and for no others. A resource counts
 * by its path.
 *
 * @throws {TypeError} for a value that a text cannot tell from others, such as a function
 */
export function requestKey(...parts: readonly unknown[]): string {
  return JSON.stringify(parts, (name, value) => {
    if (name === 'target') return (value as Resource).path
    if (typeof value === 'number' && !Number.isFinite(value)) return { number: String(value) }
    if (typeof value === 'function' || typeof value === 'symbol') {
      throw new TypeError(`${name} has no text that could be compared`)
    }
    return value
  })
}
