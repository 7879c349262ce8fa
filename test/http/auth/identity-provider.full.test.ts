import { randomBytes } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import Provider from 'oidc-provider'
import { createTestDatabase } from '../../helpers/database/database.ts'
import { startProcess } from '../../helpers/service/service-process.ts'
import { listen } from '../../helpers/service/tokens.ts'

const AUDIENCE = 'https://example.org/catalogue'
const CLIENT = { client_id: 'dashboard', client_secret: randomBytes(32).toString('hex') }

async function signingKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  return { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' }
}

/** An OpenID provider that gives a client tokens for the service. Its keys can be replaced. */
async function startIssuer(t: ExecutionContext) {
  const state: { handle?: RequestListener } = {}
  const issuer = await listen(t, (request, response) => state.handle?.(request, response))
  const setKeys = (...keys: JWK[]) => {
    const provider = new Provider(issuer, {
      jwks: { keys },
      clients: [{ ...CLIENT, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }],
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: () => ({
            audience: AUDIENCE,
            scope: 'species:read species:write',
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'RS256' } },
          }),
        },
      },
    })
    state.handle = provider.callback()
  }
  const obtainToken = async (scope: string) => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', resource: AUDIENCE, scope })
    const credentials = Buffer.from(`${CLIENT.client_id}:${CLIENT.client_secret}`).toString('base64')
    const headers = { Authorization: `Basic ${credentials}` }
    const response = await fetch(`${issuer}/token`, { method: 'POST', headers, body })
    return ((await response.json()) as { access_token: string }).access_token
  }
  return { issuer, setKeys, obtainToken }
}

test('an OpenID provider issues tokens that the service accepts for their scopes, also after its keys have changed', async (t) => {
  const { issuer, setKeys, obtainToken } = await startIssuer(t)
  const first = await signingKey('first')
  setKeys(first)
  const discovery = await fetch(`${issuer}/.well-known/openid-configuration`)
  const { jwks_uri: keySet } = (await discovery.json()) as { jwks_uri: string }
  const { databaseUrl, dataDir } = await createTestDatabase(t)
  const { origin } = startProcess(
    {
      ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
      DATA_DIR: dataDir,
      JWT_SECRET: '',
      JWT_JWKS_URL: keySet,
      JWT_ISSUER: issuer,
      JWT_AUDIENCE: AUDIENCE,
    },
    t,
  )
  const address = `${await origin}/api/v1/species`
  const send = async (token: string, options: RequestInit = {}) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    return (await fetch(address, { ...options, headers })).status
  }
  const create = (name: string) => ({ method: 'POST', body: JSON.stringify({ scientific_name: name }) })

  const reader = await obtainToken('species:read')
  t.is(await send(reader), 200)
  t.is(await send(reader, create('Lector lectoris')), 403)
  t.is(await send(await obtainToken('species:write'), create('Scriptor scriptoris')), 201)

  setKeys(await signingKey('second'), first)
  const rotated = await obtainToken('species:read')
  t.not(rotated.split('.')[0], reader.split('.')[0])
  // For thirty seconds after a fetch, an unknown key is not looked up.
  for (let attempt = 0; attempt < 80 && (await send(rotated)) === 401; attempt++) await delay(500)
  t.is(await send(rotated), 200)
  t.is(await send(reader), 200)
})
