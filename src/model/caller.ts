/** The client of a request, as its access token identifies it. */
export interface Caller {
  /** Identifies the caller in all data kept per caller; from `http/auth/authenticate.ts`. */
  readonly identity: string
  /** The scopes of the token: `<collection>:read`, `<collection>:write`, `*:read`, `*:write`. */
  readonly scopes: ReadonlySet<string>
  /** Of one request, to a service whose reads can be older than its writes. */
  readonly consistency?: Consistency
}

/** A position in the order of all writes: a byte of the write-ahead log, on a timeline of PostgreSQL. */
export interface WritePosition {
  readonly timeline: number
  readonly offset: number
}

/** Which writes a request must see, and whether it has written. */
export interface Consistency {
  /** The last write to see; `unknown` if the request names one that cannot be compared. */
  readonly after: WritePosition | 'unknown' | undefined
  hasWritten: boolean
}

/** The caller of commands, which has all scopes. */
export const OPERATOR: Caller = { identity: 'operator', scopes: new Set(['*:read', '*:write']) }
