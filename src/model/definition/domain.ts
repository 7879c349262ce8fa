import { camelCase } from './labels.ts'
import type { Resource } from './resource.ts'

/** The resources that a service serves. A folder of definitions exports one, as `domain` of its `index.ts`. */
export interface Domain {
  /** The name of the service on pages, in documents and at the start; `halgraph` by default. */
  readonly title?: string
  readonly description?: string
  /** In the order of documents and listings. */
  readonly resources: readonly Resource[]
  /**
   * The versions of the API that are served side by side, the oldest first. Without them there is one, which the
   * setting API_VERSION names, and no field has `since` or `until`.
   */
  readonly versions?: readonly ApiVersion[]
  /**
   * Settings of the service for the rules, by the name of the environment variable, as in `PLANET_REFERENCE`. A rule
   * finds the value in the `settings` of a change, in camel case: `planetReference`.
   */
  readonly settings?: Readonly<Record<string, DomainSetting>>
}

export interface DomainSetting {
  readonly description: string
  /** The allowed values, the default first. */
  readonly choices: readonly [string, ...string[]]
}

/** Settings by the names that rules find them by. */
export function inCamelCase(values: object): Readonly<Record<string, unknown>> {
  const inCamels = (name: string) => camelCase(name.toLowerCase())
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [inCamels(name), value]))
}

/** A version of the API: a view of the same resources, at a URL of its own. */
export interface ApiVersion {
  /** The segment in its URLs: `v1`. */
  readonly name: string
  /** When it was deprecated, as an ISO 8601 date or timestamp (RFC 9745). */
  readonly deprecated?: string
  /** When it will be removed; only for a deprecated version (RFC 8594). */
  readonly sunset?: string
}

export const API_VERSION_NAME = /^v[1-9][0-9]*$/

export function apiVersionNumber(name: string): number {
  return Number(name.slice(1))
}

/** Whether a version lies between `since` and `until`, both included. */
export function isIn(apiVersion: string, bounds: { since?: string; until?: string }): boolean {
  const { since = apiVersion, until = apiVersion } = bounds
  const number = apiVersionNumber(apiVersion)
  return number >= apiVersionNumber(since) && number <= apiVersionNumber(until)
}

/**
 * The versions that a service serves, and the one that its pages and examples show: the configured one, or else
 * the newest. Without declared versions there is one, v1 by default.
 *
 * @param configured the setting API_VERSION
 */
export function servedApiVersions({ versions }: Pick<Domain, 'versions'>, configured: string | undefined) {
  const served: readonly ApiVersion[] = versions ?? [{ name: configured ?? 'v1' }]
  return { versions: served, shown: configured ?? (served.at(-1) as ApiVersion).name }
}

/** The version that clients of a deprecated one should use: the next that is not deprecated. */
export function successorOf({ name }: ApiVersion, apiVersions: readonly ApiVersion[]) {
  const isLater = (other: ApiVersion) => apiVersionNumber(other.name) > apiVersionNumber(name)
  return apiVersions.find((other) => !other.deprecated && isLater(other))
}
