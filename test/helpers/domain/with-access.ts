import type { AccessRules } from '../../../src/model/access/access-rules.ts'
import type { Domain } from '../../../src/model/definition/domain.ts'
import { redefined } from './redefined.ts'

/** The domain of the tests, with access rules by the path of the resource. */
export function withAccess(rules: Readonly<Record<string, AccessRules>>): Domain {
  return redefined(Object.fromEntries(Object.entries(rules).map(([path, access]) => [path, { access }])))
}
