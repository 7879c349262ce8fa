/**
 * Everything that the definitions of a domain and their rules are written with. A folder of definitions imports this
 * module as `halgraph/domain`, and no other module of the service; docs/DOMAINS.md explains it with examples.
 */

export { type Action, allows, authorize } from '../model/authorize.ts'
export type { Caller } from '../model/caller.ts'
export {
  type Change,
  type DatabaseRule,
  type RuleClient,
  type RuleSettings,
  readingFirst,
  requireTransaction,
} from '../model/database-rule.ts'
export type { Domain, DomainSetting } from '../model/domain.ts'
export {
  type Detail,
  type DetailCode,
  DomainError,
  type ErrorCode,
  type Explanation,
  refuseInvalid,
  refuseRuleViolation,
} from '../model/errors.ts'
export {
  boolean,
  computed,
  date,
  decimal,
  enumeration,
  type Field,
  fractions,
  group,
  INTEGER_RANGE,
  integer,
  json,
  type LeafField,
  list,
  magnitude,
  number,
  reference,
  text,
  timestamp,
} from '../model/fields.ts'
export { isIdentifier, makeIdentifier, type ResourceKey, slug } from '../model/identifiers.ts'
export {
  defineResource,
  type Resource,
  type ResourceDefinition,
  type Rule,
  type Values,
} from '../model/resource.ts'
export type { Row } from '../model/row.ts'
export type { ApiVersion } from '../model/versions/versions.ts'
