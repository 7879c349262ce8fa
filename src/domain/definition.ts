/**
 * Everything that definitions and their rules need. A folder of definitions imports this module as `halgraph/domain`, and no
 * other module of the service; docs/DOMAINS.md explains it with examples.
 */

export type { AccessCaller, AccessFilter, AccessRule, AccessRules } from '../model/access-rules.ts'
export { type Action, allows, authorize, type Caller } from '../model/caller.ts'
export {
  type Change,
  type DatabaseRule,
  permittingDeletions,
  type RuleClient,
  type RuleSettings,
  readingFirst,
  requireTransaction,
} from '../model/database-rule.ts'
export type { ApiVersion, Domain, DomainSetting } from '../model/domain.ts'
export {
  type Detail,
  type DetailCode,
  DomainError,
  type ErrorCode,
  type Explanation,
  refuseInvalid,
  refuseRuleViolation,
} from '../model/errors.ts'
export { computed, type Field, group, type LeafField } from '../model/fields.ts'
export { isIdentifier, makeIdentifier, type ResourceKey, slug } from '../model/identifiers.ts'
export { boolean } from '../model/kinds/boolean.ts'
export { date } from '../model/kinds/date.ts'
export { decimal } from '../model/kinds/decimal.ts'
export { enumeration } from '../model/kinds/enumeration.ts'
export { fractions } from '../model/kinds/fractions.ts'
export { INTEGER_RANGE, integer } from '../model/kinds/integer.ts'
export { json } from '../model/kinds/json.ts'
export { list } from '../model/kinds/list.ts'
export { magnitude, number } from '../model/kinds/number.ts'
export { reference } from '../model/kinds/reference.ts'
export { text } from '../model/kinds/text.ts'
export { timestamp } from '../model/kinds/timestamp.ts'
export {
  defineResource,
  type Resource,
  type ResourceDefinition,
  type Rule,
  type Values,
} from '../model/resource.ts'
export type { Row } from '../model/row.ts'
export { isBlank } from '../model/values.ts'
