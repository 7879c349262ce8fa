import type { RuleSettings } from './database-rule.ts'
import type { Resource } from './resource.ts'
import type { ApiVersion } from './versions.ts'

/** The resources that a service serves. A folder of definitions exports one, as `domain` of its `index.ts`. */
export interface Domain {
  /** In the order of documents and listings. */
  readonly resources: readonly Resource[]
  /**
   * The versions of the API that are served side by side, the oldest first. Without them there is one, which the
   * setting API_VERSION names, and no field has `since` or `until`.
   */
  readonly versions?: readonly ApiVersion[]
  /** Selects the settings of the service for rules; none by default. */
  readonly ruleSettings?: (settings: Readonly<Record<string, unknown>>) => RuleSettings
}
