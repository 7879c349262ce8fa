/**
 * Everything that definitions and their rules need. A folder of definitions imports this module as `halgraph/domain`, and no
 * other module of the service; docs/DOMAINS.md explains it with examples.
 */

export type { AccessCaller, AccessFilter, AccessRule, AccessRules } from '../model/access/access-rules.ts'
export { type Action, allows, authorize, type Caller } from '../model/access/caller.ts'
export {
  type Change,
  type ChangeOf,
  type DatabaseRule,
  permittingDeletions,
  type RuleClient,
  type RuleSettings,
  readingFirst,
  requireTransaction,
} from '../model/definition/database-rule.ts'
export { defineResource } from '../model/definition/define-resource.ts'
export type { ApiVersion, Domain, DomainSetting } from '../model/definition/domain.ts'
export { computed, type Field, group, type LeafField } from '../model/definition/fields.ts'
export type { Resource, ResourceDefinition, Rule, Values } from '../model/definition/resource.ts'
export type { Representation } from '../model/definition/typed.ts'
export {
  type Detail,
  type DetailCode,
  DomainError,
  type ErrorCode,
  type Explanation,
  refuseInvalid,
  refuseRuleViolation,
} from '../model/errors.ts'
export { INTEGER_RANGE } from '../model/kinds/integer.ts'
export { magnitude } from '../model/kinds/number.ts'
export { isIdentifier, makeIdentifier, type ResourceKey, slug } from '../model/rows/identifiers.ts'
export type { Row } from '../model/rows/row.ts'
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
