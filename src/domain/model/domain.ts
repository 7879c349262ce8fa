import type { RuleSettings } from './database-rule.ts'
import type { Resource } from './resource.ts'

/** The resources that a service serves. A folder of definitions exports one, as `domain` of its `index.ts`. */
export interface Domain {
  /** In the order of documents and listings. */
  readonly resources: readonly Resource[]
  /** Selects the settings of the service for rules; none by default. */
  readonly ruleSettings?: (settings: Readonly<Record<string, unknown>>) => RuleSettings
}
