import { DomainError } from '../errors.ts'

/** The client of a request, as its access token identifies it. */
export interface Caller {
  /** Identifies the caller in all data kept per caller; from `http/auth/authenticate.ts`. */
  readonly identity: string
  /** The scopes of the token: `<collection>:read`, `<collection>:write`, those of fields, `*:read`, `*:write`. */
  readonly scopes: ReadonlySet<string>
  /** The `sub` of the token; undefined without one. */
  readonly subject: string | undefined
  /** All verified claims of the token, for access rules. */
  readonly claims: Readonly<Record<string, unknown>>
  /** Whose rows the request is about. */
  readonly namespace?: Namespace
  /** Set per request, by services whose reads can be older than their writes. */
  readonly consistency?: Consistency
}

/** The rows of one schema, while their database is open. What is kept for them is kept by this object, and forgotten with it. */
export interface Namespace {
  /** Empty in a service that has one. */
  readonly name: string
}

/** That of all callers of a service that has one. */
export const ONLY_NAMESPACE: Namespace = { name: '' }

export function namespaceOf({ namespace = ONLY_NAMESPACE }: Caller): Namespace {
  return namespace
}

/** Whether a request must see writes that replicas may lack, and whether it has written. */
export interface Consistency {
  readonly needsPrimary: boolean
  hasWritten: boolean
}

class AllScopes extends Set<string> {
  override has(): boolean {
    return true
  }
}

/** The caller of commands, which has all scopes. */
export const OPERATOR: Caller = {
  identity: 'operator',
  scopes: new AllScopes(),
  subject: undefined,
  claims: {},
}

/** The identity of all requests without a token together. No token has it. */
export const ANONYMOUS = 'anonymous'

export type Action = 'read' | 'write'

/**
 * Requires the scope `{collection}:{scope}` or `*:{scope}`: that of an action, or of a field. Write does not include read.
 * Does not look up the resource, so the response is the same whether it exists or not (SPEC §5.2).
 *
 * @throws {DomainError} ACCESS_DENIED (403), or AUTHENTICATION_REQUIRED (401) without a token
 */
export function authorize(caller: Caller, resource: { readonly path: string }, scope: string): void {
  if (!allows(caller, resource, scope)) throw lackOf(`${resource.path}:${scope}`, caller)
}

export function lackOf(scope: string, { identity }: Caller, lacking = `scope ${scope}`): DomainError {
  if (identity !== ANONYMOUS)
    return Object.assign(new DomainError('ACCESS_DENIED', `The token lacks the ${lacking}.`), { scope })
  const message = `Send an access token with the ${lacking}: Authorization: Bearer <token>`
  return new DomainError('AUTHENTICATION_REQUIRED', message)
}

/** Whether {@link authorize} would pass. */
export function allows({ scopes }: Caller, { path }: { readonly path: string }, scope: string): boolean {
  return scopes.has(`${path}:${scope}`) || scopes.has(`*:${scope}`)
}
