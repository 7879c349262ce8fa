import { randomUUID } from 'node:crypto'
import { v7 } from 'uuid'

// biome-ignore lint/complexity/noUselessEscapeInRegex: documents have it too, and browsers compile patterns with the flag v.
export const IDENTIFIER = /^(?!\.{1,2}$)[A-Za-z0-9._~\-]{1,64}$/

/** Whether a text is a valid identifier: unreserved characters (RFC 3986 §2.3), which need no escaping. */
export function isIdentifier(text: string): boolean {
  return IDENTIFIER.test(text)
}

export interface ResourceKey {
  readonly parentId?: string | undefined
  readonly id: string
}

/** The key of a resource, from its fields or its row. The identifier of a singleton is that of its parent. */
export function keyOf(
  { parentField }: { readonly parentField: string | undefined },
  values: { readonly [field: string]: unknown },
): ResourceKey {
  return { parentId: parentField && (values[parentField] as string), id: values['id'] as string }
}

export function keyColumns(
  { parentField }: { readonly parentField: string | undefined },
  { parentId, id }: ResourceKey,
): Readonly<Record<string, unknown>> {
  return parentField ? { [parentField]: parentId, id } : { id }
}

/** Unique, because identifiers have no `/`. */
export function keyText({ parentId = '', id }: ResourceKey): string {
  return `${parentId}/${id}`
}

export function keyOfText(text: string): ResourceKey {
  const [parentId, id] = text.split('/') as [string, string]
  return { parentId, id }
}

export function isResourceKey({ parentId, id }: ResourceKey): boolean {
  return isIdentifier(id) && (parentId === undefined || isIdentifier(parentId))
}

/**
 * Generates an identifier, a UUID (RFC 9562): ordered by time, so that an index grows at its end, or random
 * if the order of creation must stay secret (SPEC §2.5.7).
 */
export function makeIdentifier({ randomIdentifiers }: { readonly randomIdentifiers?: true }): string {
  return randomIdentifiers ? randomUUID() : v7()
}

/**
 * Converts a text to a similar identifier; undefined if no character can be used, or if a letter or digit would be
 * lost. Letters may lose diacritics (`é`), but only those that Unicode decomposes (not `ø`).
 */
export function slug(text: string): string | undefined {
  const plain = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, '')
  if (/(?![a-z0-9])[\p{L}\p{N}]/u.test(plain)) return undefined
  const joined = plain
    .replace(/[^a-z0-9._~-]+/g, '-')
    .replace(/^[-.]+|(?<![-.])[-.]+$/g, '')
    .slice(0, 64)
  return isIdentifier(joined) ? joined : undefined
}
