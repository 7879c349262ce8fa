import test from 'ava'
import type { ProviderMetadata } from '../../src/http/auth/discovery.ts'
import { permitSignIn, signInFor } from '../../src/pages/sign-in.ts'

const metadata: ProviderMetadata = {
  issuer: 'https://login.example.org',
  jwks_uri: 'https://login.example.org/keys',
  authorization_endpoint: 'https://login.example.org/authorize',
  token_endpoint: 'https://tokens.example.org/token',
  revocation_endpoint: 'https://login.example.org/revoke',
}

const settings = { oidcClientId: 'pages', oidcScopes: 'openid', providerMetadata: async () => metadata }
const within = (namespace?: string) => ({ state: { namespace } }) as never
const POLICY = "default-src 'none'; connect-src 'self'; base-uri 'none'"

test('all namespaces of a service return from the provider to one address, which is registered there', async (t) => {
  const outside = await signInFor(within(), settings, 'https://example.org/catalogue')
  t.is(outside?.['redirect_uri'], 'https://example.org/catalogue/')
  t.deepEqual(await signInFor(within('north'), settings, 'https://example.org/catalogue/north'), outside)
})

test('a page connects to the token endpoint of the provider besides its own origin, and learns of no endpoint elsewhere', async (t) => {
  const signIn = await signInFor(within(), settings, 'https://example.org')
  t.is(
    permitSignIn(POLICY, signIn),
    "default-src 'none'; connect-src 'self' https://tokens.example.org; base-uri 'none'",
  )
  t.false('revocation_endpoint' in (signIn ?? {}))
  const { token_endpoint } = metadata
  const own = { ...metadata, revocation_endpoint: token_endpoint }
  const other = await signInFor(
    within(),
    { ...settings, providerMetadata: async () => own },
    'https://example.org',
  )
  t.is(other?.['revocation_endpoint'], token_endpoint)
})

test('without an issuer, and while it has not responded, the policy of pages is the strict one', async (t) => {
  t.is(await signInFor(within(), {}, 'https://example.org'), undefined)
  t.is(permitSignIn(POLICY, undefined), POLICY)
  const down = { ...settings, providerMetadata: async () => undefined }
  const signIn = await signInFor(within(), down, 'https://example.org')
  t.is(signIn?.['issuer'], undefined)
  t.is(permitSignIn(POLICY, signIn), POLICY)
})
