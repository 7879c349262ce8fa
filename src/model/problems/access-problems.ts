import { accessFilter } from '../access/access-filter.ts'
import {
  ACCESS_ACTIONS,
  type AccessAction,
  type AccessCaller,
  type AccessRule,
} from '../access/access-rules.ts'
import { type Domain, inCamelCase } from '../definition/domain.ts'
import type { Resource } from '../definition/resource.ts'
import { isObject, mapped } from '../values.ts'
import { type Case, problemsAt } from './field-problems.ts'

/** The callers that rules are tried with. */
const CALLERS: readonly (readonly [description: string, AccessCaller])[] = [
  ['without a token', { subject: undefined, scopes: new Set(), claims: {} }],
  ['without claims', { subject: 'subject', scopes: new Set(), claims: {} }],
  [
    'whose claims are texts',
    { subject: 'subject', scopes: new Set(), claims: new Proxy({}, { get: () => 'claim' }) },
  ],
]

export function accessProblems(domain: Domain): string[] {
  const tried = choicesOf(domain)
  return domain.resources.flatMap((resource) => problemsOfRules(resource, tried))
}

type Tried = ReturnType<typeof choicesOf>[number]

/** The defaults of the settings, and each other choice of one of them. */
function choicesOf({ resources, settings = {} }: Domain) {
  const defaults: Record<string, unknown> = mapped(settings, ({ choices }) => choices[0])
  const others = Object.entries(settings).flatMap(([name, { choices }]) =>
    choices.slice(1).map((choice) => ({ ...defaults, [name]: choice })),
  )
  return [defaults, ...others].map((one) => ({ resources, settings: inCamelCase(one) }))
}

function problemsOfRules(resource: Resource, tried: readonly Tried[]): string[] {
  const { path, access = {}, appendOnly } = resource
  if (!isObject(access)) return problemsAt(path, [[true, 'its access must be an object of rules']])
  return Object.entries(access).flatMap(([action, rule]) => {
    const isKnown = ACCESS_ACTIONS.includes(action as AccessAction)
    const isRule = typeof rule === 'function'
    return problemsAt(`${path}.access.${action}`, [
      [!isKnown, `the actions are ${ACCESS_ACTIONS.join(', ')}`],
      [!isRule, 'a rule is a function of the caller'],
      [appendOnly === true && action === 'change', 'the resource is append-only, so it does not change'],
      ...(isKnown && isRule ? casesOfRule(resource, rule as AccessRule, tried) : []),
    ])
  })
}

function casesOfRule(resource: Resource, rule: AccessRule, tried: readonly Tried[]): Case[] {
  const problems = CALLERS.flatMap((caller) => tried.map((one) => problemOf(resource, rule, caller, one)))
  return [...new Set(problems)].map((problem) => [problem !== undefined, `${problem}`])
}

function problemOf(
  resource: Resource,
  rule: AccessRule,
  [description, caller]: (typeof CALLERS)[number],
  { resources, settings }: Tried,
): string | undefined {
  let decision: unknown
  try {
    decision = rule(caller, settings)
  } catch (error) {
    return `it fails for a caller ${description}: ${(error as Error).message}`
  }
  if (typeof decision === 'boolean') return undefined
  if (!isObject(decision)) return `it returns ${decision}, and not true, false or a filter`
  try {
    accessFilter(resource, decision, resources)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
