/** A version of the API: a view of the same resources, at a URL of its own. */
export interface ApiVersion {
  /** The segment of its URLs: `v1`. */
  readonly name: string
  /** Since when clients should leave it, as an ISO 8601 date or timestamp (RFC 9745). */
  readonly deprecated?: string
  /** When it will be removed; only of a deprecated version (RFC 8594). */
  readonly sunset?: string
}

/** The form of the name of a version. */
export const VERSION_NAME = /^v[1-9][0-9]*$/

/** The versions of a domain that declares none. */
export const ONLY_VERSION = 'v1'

/** The number of a version, by which versions are ordered. */
export function versionNumber(name: string): number {
  return Number(name.slice(1))
}

/** Whether a version has what is there from `since` to `until`. */
export function isIn(version: string, { since, until }: { since?: string; until?: string }): boolean {
  const number = versionNumber(version)
  return (
    (since === undefined || number >= versionNumber(since)) &&
    (until === undefined || number <= versionNumber(until))
  )
}

/** The version that clients of a deprecated one should use: the next that is not deprecated. */
export function successorOf({ name }: ApiVersion, versions: readonly ApiVersion[]): ApiVersion | undefined {
  return versions.find((other) => !other.deprecated && versionNumber(other.name) > versionNumber(name))
}
