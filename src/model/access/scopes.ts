import type { Resource } from '../definition/resource.ts'

type Scoped = Pick<Resource, 'path' | 'fieldScopes'>

/** Scopes of all collections: to read, to write, and those of fields. */
export function allScopes(resources: readonly Scoped[]): string[] {
  const fieldScopes = new Set(resources.flatMap(({ fieldScopes }) => fieldScopes))
  return ['read', 'write', ...fieldScopes].map((scope) => `*:${scope}`)
}

/** The scopes, separated by spaces, that no request needs. */
export function unknownScopes(scopes: string, resources: readonly Scoped[]): string[] {
  const known = new Set(allScopes(resources))
  for (const { path, fieldScopes } of resources)
    for (const scope of ['read', 'write', ...fieldScopes]) known.add(`${path}:${scope}`)
  return scopes.split(' ').filter((scope) => !known.has(scope))
}
