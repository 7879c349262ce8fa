import { type Html, html } from '../documents/html.ts'
import type { ProviderMetadata } from '../http/auth/discovery.ts'
import type { Context } from '../http/context.ts'

/** How people sign in to the pages. */
export interface SignInSettings {
  readonly oidcClientId?: string | undefined
  readonly oidcScopes?: string
  readonly oidcAudience?: string | undefined
  /** The metadata of OIDC_ISSUER, undefined while it has not responded; without an issuer, pages take a token. */
  readonly providerMetadata?: (() => Promise<ProviderMetadata | undefined>) | undefined
}

/** What the scripts of a page need to know; only the address to return to if the issuer has not responded. */
export type SignIn = Readonly<Record<string, unknown>> & { readonly token_endpoint?: string }

/** @param root of the service or, in a service that has several, of a namespace: all share one address to return to */
export async function signInFor(
  { state: { namespace } }: Context,
  { oidcClientId, oidcScopes, oidcAudience, providerMetadata }: SignInSettings,
  root: string,
): Promise<SignIn | undefined> {
  if (!providerMetadata) return undefined
  const service = namespace === undefined ? root : root.slice(0, -`/${namespace}`.length)
  const asked = {
    client_id: oidcClientId,
    scope: oidcScopes,
    audience: oidcAudience,
    redirect_uri: `${service}/`,
  }
  const metadata = await providerMetadata()
  if (!metadata) return asked
  const { issuer, authorization_endpoint, token_endpoint, end_session_endpoint, revocation_endpoint } =
    metadata
  const { authorization_response_iss_parameter_supported, id_token_signing_alg_values_supported } = metadata
  return {
    ...asked,
    ...{ issuer, authorization_endpoint, token_endpoint, end_session_endpoint },
    ...{ authorization_response_iss_parameter_supported, id_token_signing_alg_values_supported },
    // Pages may connect to no other origin.
    ...(originOf(revocation_endpoint) === originOf(token_endpoint) && { revocation_endpoint }),
  }
}

/** Lets a page also connect to the token endpoint, which is all that it sends requests to. */
export function permitSignIn(policy: string, signIn: SignIn | undefined): string {
  const origin = originOf(signIn?.token_endpoint)
  return origin === undefined ? policy : policy.replace("connect-src 'self'", `connect-src 'self' ${origin}`)
}

function originOf(address: string | undefined): string | undefined {
  return address === undefined || !URL.canParse(address) ? undefined : new URL(address).origin
}

/** Who is signed in, in the header. Hidden, because it is of no use without a script. */
export const SIGN_IN: Html = html`<div class="session" id="session" hidden>
<button type="button" name="sign-in" aria-describedby="session-reason">Sign in</button>
<details hidden>
<summary></summary>
<div class="panel">
<p></p>
<p class="note">Signed in while a page of this service is open.</p>
<button type="button" name="sign-out" class="quiet">Sign out</button>
</div>
</details>
<p id="session-reason" class="note" role="status"></p>
</div>`

/** The field for an access token. */
export const ACCESS_TOKEN: Html = html`<details class="session" id="session" hidden>
<summary>Access token</summary>
<form autocomplete="off">
<label>Access token <input type="password" name="token" autocomplete="off" required aria-describedby="session-reason session-note"></label>
<button type="submit">Use token</button>
<button type="button" class="quiet" name="forget" hidden>Forget token</button>
<p id="session-reason" class="note" role="status"></p>
<p id="session-note" class="note">Kept while a tab of this service is open. On the machine of the service, <code>npx halgraph token</code> prints a token.</p>
</form>
</details>`
