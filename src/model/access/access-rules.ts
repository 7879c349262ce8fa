import type { RuleSettings } from '../definition/database-rule.ts'
import type { Caller } from './caller.ts'

export const ACCESS_ACTIONS = ['read', 'create', 'change', 'delete'] as const

export type AccessAction = (typeof ACCESS_ACTIONS)[number]

/** The caller, as rules see it. Without a token, `subject` is undefined and `claims` is empty. */
export type AccessCaller = Pick<Caller, 'subject' | 'scopes' | 'claims'>

/**
 * Conditions on the fields of a row, as the filter of a list in GraphQL, with wire names: `{ owner: { equals: 'ada' } }`; on
 * those of a row that it refers to, by link relation: `{ club: { tenant: { equals: 'ada' } } }`.
 */
export interface AccessFilter {
  readonly [member: string]: unknown
}

/**
 * Which rows the caller may read, create, change or delete: all, none, or those that match a filter. A condition whose
 * operand has no value, such as a claim that the token lacks, matches no row, within `not` too.
 */
export type AccessRule = (caller: AccessCaller, settings: RuleSettings) => boolean | AccessFilter

/** Actions without a rule are allowed on every row. */
export type AccessRules = { readonly [Action in AccessAction]?: AccessRule }
