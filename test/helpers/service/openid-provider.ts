import { createServer, type RequestListener } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import type { Owner } from '../database/database.ts'
import { listenWith } from '../process/listen-with.ts'
import type { Json } from './client.ts'

const CLIENT_ID = 'pages'
export const AUDIENCE = 'https://example.org/catalogue'

/** The roles of its people, in the place where Keycloak has them. */
const ROLES: Readonly<Record<string, readonly string[]>> = { ada: ['editor'], grace: ['reader'], eve: [] }

/**
 * An OpenID provider where people sign in with their name and any password, and agree to everything. Its access tokens are
 * for the service at an address, with roles and without scopes.
 */
export async function startProvider(owner: Owner, redirectUri: string) {
  const state = {
    isDown: false,
    audience: AUDIENCE,
    accessTokenSeconds: 3_600,
    /** The grants for which it was asked for tokens, in order. */
    grants: [] as string[],
    /** Its successful token responses (RFC 6749 §5.1), in order. */
    tokens: [] as Json[],
  }
  let handle: RequestListener = () => {}
  const issuer = await listenWith(
    owner,
    createServer((request, response) => (state.isDown ? void request.destroy() : handle(request, response))),
  )
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'only', alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['only the tests know this secret of theirs'] },
    clients: [
      {
        client_id: CLIENT_ID,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [redirectUri],
      },
    ],
    clientBasedCORS: (_: Json, origin: string) => new URL(redirectUri).origin === origin,
    claims: { openid: ['sub'], profile: ['name'] },
    conformIdTokenClaims: false,
    findAccount: (_: Json, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, name: `${id[0]?.toUpperCase()}${id.slice(1)} of the catalogue` }),
    }),
    extraTokenClaims: (_: Json, { accountId }: Json) => ({ realm_access: { roles: ROLES[accountId] ?? [] } }),
    async loadExistingGrant({ oidc }: Json) {
      const { accountId } = oidc.session
      const grant = new oidc.provider.Grant({ clientId: CLIENT_ID, accountId })
      grant.addOIDCScope('openid profile')
      await grant.save()
      return grant
    },
    issueRefreshToken: () => true,
    ttl: { AccessToken: () => state.accessTokenSeconds },
    features: {
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          audience: state.audience,
          scope: '',
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  }) as Json
  for (const event of ['grant.success', 'grant.error'])
    provider.on(event, ({ oidc }: Json) => state.grants.push(`${oidc.params.grant_type} ${event.slice(6)}`))
  provider.on('grant.success', ({ body }: Json) => state.tokens.push(body))
  handle = provider.callback()
  const settings = {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: CLIENT_ID,
    OIDC_AUDIENCE: AUDIENCE,
    SCOPES_CLAIM: 'realm_access.roles',
    SCOPES_MAP: JSON.stringify({ editor: ['*:read', '*:write'], reader: ['*:read'] }),
  }
  return { issuer, state, settings }
}
