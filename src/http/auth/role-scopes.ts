import { isObject } from '../../model/values.ts'

/** The scopes that each value of a claim stands for. */
export type ScopesMap = Readonly<Record<string, readonly string[]>>

export interface RoleSettings {
  /** The claim with the roles or groups of the caller: a name, or a path of names separated by dots. */
  readonly scopesClaim?: string | undefined
  /** Undefined: the values of the claim are scopes. */
  readonly scopesMap?: ScopesMap | undefined
}

/**
 * The scopes of the roles in a token. Their claim is a text, a list, or an object with a member for each, as providers
 * without scopes of an API have them.
 */
export function scopesOfRoles(claims: object, { scopesClaim, scopesMap }: RoleSettings): readonly string[] {
  if (scopesClaim === undefined) return []
  const value = claimAt(claims, scopesClaim)
  const roles = isObject(value) ? Object.keys(value) : [value].flat()
  const names = roles.filter((role) => typeof role === 'string')
  if (!scopesMap) return names.flatMap((name) => name.split(' ').filter((scope) => scope !== ''))
  return names.flatMap((name) => (Object.hasOwn(scopesMap, name) ? (scopesMap[name] ?? []) : []))
}

/** Names of claims may contain dots, as in `https://example.org/roles` (RFC 7519 §4.2). */
function claimAt(value: unknown, path: string): unknown {
  if (!isObject(value)) return undefined
  if (Object.hasOwn(value, path)) return value[path]
  const names = Object.keys(value).filter((name) => path.startsWith(`${name}.`))
  return names
    .map((name) => claimAt(value[name], path.slice(name.length + 1)))
    .find((one) => one !== undefined)
}

/** Undefined for a text that is no JSON object of lists of scopes. */
export function parseScopesMap(text: string): ScopesMap | undefined {
  try {
    const map: unknown = JSON.parse(text)
    const isScope = (scope: unknown) => typeof scope === 'string' && /^\S+$/.test(scope)
    const isScopes = (scopes: unknown) => Array.isArray(scopes) && scopes.every(isScope)
    if (isObject(map) && Object.values(map).every(isScopes)) return map as ScopesMap
  } catch {}
  return undefined
}
