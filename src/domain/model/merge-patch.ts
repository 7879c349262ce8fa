import { apply } from 'json-merge-patch'

/**
 * Applies a JSON Merge Patch without changing its arguments. RFC 7396 §2: null removes a member, objects are
 * merged, and other values replace.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  return apply(structuredClone(target), patch)
}
