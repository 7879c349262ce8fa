import { finished } from 'node:stream'
import type { Database } from '../../database/database.ts'
import { callerOf } from '../../http/auth/authenticate.ts'
import type { Middleware } from '../../http/context.ts'
import { type PublicAddress, rootFor } from '../../http/request-target.ts'
import type { Handler } from '../../http/routes.ts'
import { ANONYMOUS, type Caller, type Namespace } from '../../model/access/caller.ts'
import { DomainError } from '../../model/errors.ts'
import { negotiate, respond } from '../../rest/respond.ts'

/** A namespace whose database is open. */
export interface Opened {
  readonly namespace: Namespace
  readonly database: Database
  /** Ends streams, and what runs in the background. */
  readonly stop: () => void
}

const ALL = '*'

/** Whether a caller may use a namespace: its token names it, or it has none. ANONYMOUS_SCOPES are those of the service. */
export function covers({ identity, claims }: Caller, claim: string, name: string): boolean {
  const named = [claims[claim]].flat()
  return identity === ANONYMOUS || named.includes(ALL) || named.includes(name)
}

/**
 * Opens the namespace of a request for its caller.
 *
 * @throws {DomainError} ACCESS_DENIED (403), whether the namespace exists or not; RESOURCE_NOT_FOUND (404),
 *   SERVICE_UNAVAILABLE (503)
 */
export function enterOpened(
  claim: string,
  use: (name: string) => Promise<Pick<Opened, 'namespace'> & { readonly end: () => void }>,
): Middleware {
  return async (ctx, next) => {
    const name = ctx.state.namespace as string
    const caller = callerOf(ctx)
    if (!covers(caller, claim, name))
      throw new DomainError('ACCESS_DENIED', `The token does not name ${name} in its claim ${claim}.`)
    const { namespace, end } = await use(name)
    finished(ctx.res, end)
    ctx.state.caller = { ...caller, namespace }
    await next()
  }
}

/** The handler of `/`: links to the namespaces that the caller may use. */
export function listNamespaces(
  settings: PublicAddress & { readonly namespaceClaim: string; readonly apiVersion: string },
  names: () => Promise<readonly string[]>,
): Handler {
  return async (ctx) => {
    negotiate(ctx)
    const root = rootFor(ctx, settings)
    const caller = callerOf(ctx)
    const shown = (await names()).filter((name) => covers(caller, settings.namespaceClaim, name))
    const namespaces = shown.map((name) => ({ name, href: `${root}/${name}/${settings.apiVersion}` }))
    respond(ctx, 200, { _links: { self: { href: `${root}/` }, namespaces } })
  }
}
