import type { Caller } from './caller.ts'
import { DomainError } from './errors.ts'
import type { Resource } from './resource.ts'

export type Action = 'read' | 'write'

/**
 * Lets a caller through who may do this to a collection, by the scope `{collection}:{action}` or
 * `*:{action}`. Writing does not include reading. Never looks anything up, so that the answer is the
 * same for resources that exist and that do not (SPEC §5.2).
 *
 * @throws {DomainError} ACCESS_DENIED (403)
 */
export function authorize(caller: Caller, resource: Resource, action: Action): void {
  const scope = `${resource.path}:${action}`
  if (caller.scopes.has(scope) || caller.scopes.has(`*:${action}`)) return
  throw new DomainError('ACCESS_DENIED', `This needs the scope ${scope}, which the token does not have.`)
}
