/**
 * Everything that definitions and their rules need. A folder of definitions imports this module as `halgraph/domain`, and no
 * other module of the service; docs/DOMAINS.md explains it with examples.
 */

export type { AccessCaller, AccessFilter, AccessRule, AccessRules } from '../model/access-rules.ts'
export { type Action, allows, authorize, type Caller } from '../model/caller.ts'
export {
  type Change,
  type ChangeOf,
  type DatabaseRule,
  permittingDeletions,
  type RuleClient,
  type RuleSettings,
  readingFirst,
  requireTransaction,
} from '../model/database-rule.ts'
export { defineResource } from '../model/define-resource.ts'
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
export { INTEGER_RANGE } from '../model/kinds/integer.ts'
export { magnitude } from '../model/kinds/number.ts'
export type { Resource, ResourceDefinition, Rule, Values } from '../model/resource.ts'
export type { Row } from '../model/row.ts'
export type { Representation } from '../model/typed.ts'
export { isBlank } from '../model/values.ts'
export {
  boolean,
  date,
  decimal,
  enumeration,
  fractions,
  integer,
  json,
  list,
  number,
  reference,
  text,
  timestamp,
} from './typed-kinds.ts'
