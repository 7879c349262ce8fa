import type { Resource } from './resource.ts'
import type { ApiVersion } from './versions/versions.ts'

/** The resources that a service serves. A folder of definitions exports one, as `domain` of its `index.ts`. */
export interface Domain {
  /** The name of the service on its pages, in its documents and at its start; `halgraph` by default. */
  readonly title?: string
  /** What the service offers, in a sentence or two. */
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

/** A setting of a domain. */
export interface DomainSetting {
  readonly description: string
  /** The allowed values, the default first. */
  readonly choices: readonly [string, ...string[]]
}
