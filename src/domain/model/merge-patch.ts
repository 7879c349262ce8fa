import { apply } from 'json-merge-patch'

/**
 * The value that a JSON Merge Patch makes of another; neither is changed.
 * RFC 7396 §2: members that are null are removed, objects are merged, everything else replaces.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  return apply(structuredClone(target), patch)
}
