import type { Caller } from './caller.ts'
import { DomainError } from './errors.ts'
import type { Resource } from './resource.ts'

export type Action = 'read' | 'write'

/**
 * Requires the scope `{collection}:{action}` or `*:{action}`. Write does not include read. Does not look up
 * the resource, so the response is the same whether it exists or not (SPEC §5.2).
 *
 * @throws {DomainError} ACCESS_DENIED (403)
 */
export function authorize(caller: Caller, resource: Resource, action: Action): void {
  if (allows(caller, resource, action)) return
  const scope = `${resource.path}:${action}`
  throw new DomainError('ACCESS_DENIED', `This needs the scope ${scope}, which the token does not have.`)
}

/** Whether a caller may do this to a collection; see {@link authorize}. */
export function allows({ scopes }: Caller, { path }: Resource, action: Action): boolean {
  return scopes.has(`${path}:${action}`) || scopes.has(`*:${action}`)
}
