/** The client of a request, as its access token identifies it. */
export interface Caller {
  /** Identifies the caller in all data kept per caller; from `http/auth/identity.ts`. */
  readonly identity: string
  /** The scopes of the token: `<collection>:read`, `<collection>:write`, `*:read`, `*:write`. */
  readonly scopes: ReadonlySet<string>
}

/** The caller of commands, which has all scopes. */
export const OPERATOR: Caller = { identity: 'operator', scopes: new Set(['*:read', '*:write']) }
