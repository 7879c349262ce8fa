/** Who is calling, as the access token says. */
export interface Caller {
  /** The token's `sub`, if it has one. */
  readonly subject: string | undefined
  /** What the token allows: `<collection>:read`, `<collection>:write`, `*:read`, `*:write`. */
  readonly scopes: ReadonlySet<string>
}
