import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import Koa from 'koa'
import { DomainError } from '../../src/domain/errors.ts'
import { authenticate, type TokenSettings } from '../../src/rest/authenticate.ts'

const secret = 'a secret that is long enough for it'
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const open = { jwtIssuer: undefined, jwtAudience: undefined }
const withSecret: TokenSettings = { jwt: { kind: 'secret', secret }, ...open }

interface Answer {
  status: number
  code?: string
  challenge: string | null
  caller?: { identity: string; scopes: string[] }
}

async function listen(t: ExecutionContext, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that answers with the caller, or with the code of the refusal. */
async function serve(
  t: ExecutionContext,
  settings: TokenSettings,
): Promise<(header?: string) => Promise<Answer>> {
  const app = new Koa()
  app.use(async (context, next) => {
    try {
      await next()
    } catch (error) {
      context.body = { code: error instanceof DomainError ? error.code : String(error) }
    }
  })
  app.use(authenticate(settings))
  app.use((context) => {
    const { identity, scopes } = context.state['caller']
    context.body = { caller: { identity, scopes: [...scopes] } }
  })
  const address = await listen(t, createServer(app.callback()))
  return async (header) => {
    const response = await fetch(address, header === undefined ? {} : { headers: { Authorization: header } })
    return {
      status: response.status,
      challenge: response.headers.get('www-authenticate'),
      ...((await response.json()) as object),
    }
  }
}

function sign(
  key: CryptoKey | Uint8Array,
  alg: string,
  claims: object = {},
  header: object = {},
): Promise<string> {
  return new SignJWT({ sub: 'ada', scope: 'species:read', ...claims })
    .setProtectedHeader({ alg, ...header })
    .sign(key)
}

const now = (): number => Math.floor(Date.now() / 1000)

/** Key pairs, and a server that publishes the public keys and counts how often it is asked. */
async function keySet(t: ExecutionContext, ...algorithms: string[]) {
  const pairs = await Promise.all(
    algorithms.map((alg) =>
      generateKeyPair(alg, { extractable: true, ...(alg === 'EdDSA' ? { crv: 'Ed25519' } : {}) }),
    ),
  )
  const published = pairs.map(async ({ publicKey }, index) => ({
    ...(await exportJWK(publicKey)),
    kid: `k${index}`,
  }))
  const keys = await Promise.all(published)
  const state = { asked: 0 }
  const server = createServer((_, response) => {
    state.asked += 1
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys }))
  })
  const url = await listen(t, server)
  return { pairs, state, settings: { jwt: { kind: 'jwks', url }, ...open } satisfies TokenSettings }
}

function refused(t: ExecutionContext, answer: Answer, challenge = 'Bearer error="invalid_token"'): void {
  t.is(answer.code, 'AUTHENTICATION_REQUIRED')
  t.is(answer.challenge, challenge)
}

test('a signed token names the caller and the scopes', async (t) => {
  const send = await serve(t, withSecret)
  const { caller } = await send(
    `Bearer ${await sign(bytes(secret), 'HS256', { scope: 'species:read  planets:write' })}`,
  )
  t.deepEqual(caller, { identity: 'ada', scopes: ['species:read', 'planets:write'] })
})

test('scopes are read from scope, scopes and scp, and what is not a scope is ignored', async (t) => {
  const send = await serve(t, withSecret)
  const claims = { sub: undefined, scope: undefined, scopes: ['a:read', 7, null], scp: 'b:read c:write' }
  const { caller } = await send(`bearer ${await sign(bytes(secret), 'HS256', claims)}`)
  t.deepEqual(caller?.scopes, ['a:read', 'b:read', 'c:write'])
})

test('a request without a token, or with another scheme, is asked for one', async (t) => {
  const send = await serve(t, withSecret)
  for (const header of [undefined, '', 'Basic YTpi', 'Token abc', await sign(bytes(secret), 'HS256')]) {
    refused(t, await send(header), 'Bearer')
  }
})

test('malformed tokens are refused', async (t) => {
  const send = await serve(t, withSecret)
  const token = await sign(bytes(secret), 'HS256')
  const [header, payload, signature] = token.split('.')
  const malformed = [
    '',
    'x',
    'a.b',
    'a.b.c',
    `${header}.${payload}.`,
    `${header}.${payload}`,
    `${token}x`,
    `${token} x`,
  ]
  malformed.push(
    `${header}.${encode({ scope: '*:write' })}.${signature}`,
    `${encode('x')}.${payload}.${signature}`,
  )
  for (const forged of malformed) refused(t, await send(`Bearer ${forged}`))
})

test('an unsigned token is refused', async (t) => {
  const keys = await keySet(t, 'RS256')
  for (const settings of [withSecret, keys.settings]) {
    const send = await serve(t, settings)
    for (const alg of ['none', 'None', 'NONE', '']) {
      refused(t, await send(`Bearer ${encode({ alg, kid: 'k0' })}.${encode({ scope: '*:read' })}.`))
    }
  }
})

for (const [claim, claims] of Object.entries({
  'an expired token': { exp: now() - 1 },
  'a token that is not yet valid': { nbf: now() + 60 },
  'a token with an expiry that is no number': { exp: 'tomorrow' },
})) {
  test(`${claim} is refused`, async (t) => {
    const { pairs, settings } = await keySet(t, 'ES256')
    const bySecret = await serve(t, withSecret)
    refused(t, await bySecret(`Bearer ${await sign(bytes(secret), 'HS256', claims)}`))
    const byKey = await serve(t, settings)
    const key = pairs[0]?.privateKey as CryptoKey
    refused(t, await byKey(`Bearer ${await sign(key, 'ES256', claims, { kid: 'k0' })}`))
  })
}

test('only the configured issuer and audience are accepted', async (t) => {
  const { pairs, settings } = await keySet(t, 'RS256')
  const required = { jwtIssuer: 'https://id.example.org', jwtAudience: 'halgraph' }
  const good = { iss: 'https://id.example.org', aud: ['other', 'halgraph'] }
  const key = pairs[0]?.privateKey as CryptoKey
  const bySecret = await serve(t, { ...withSecret, ...required })
  const byKey = await serve(t, { ...settings, ...required })
  const send = async (claims: object): Promise<Answer[]> => [
    await bySecret(`Bearer ${await sign(bytes(secret), 'HS256', claims)}`),
    await byKey(`Bearer ${await sign(key, 'RS256', claims, { kid: 'k0' })}`),
  ]
  for (const answer of await send(good)) t.is(answer.caller?.identity, 'ada')
  for (const wrong of [
    { iss: 'https://evil.example.org' },
    { iss: undefined },
    { aud: 'other' },
    { aud: undefined },
  ]) {
    for (const answer of await send({ ...good, ...wrong })) refused(t, answer)
  }
})

test('a token signed with another secret or another HMAC size is refused', async (t) => {
  const send = await serve(t, withSecret)
  refused(t, await send(`Bearer ${await sign(bytes('another secret that is long enough'), 'HS256')}`))
  refused(t, await send(`Bearer ${await sign(bytes(secret.repeat(2)), 'HS512')}`))
  refused(t, await send(`Bearer ${await sign(bytes(secret), 'HS384')}`))
})

test('every public-key family of the key set is accepted, and the set is fetched once', async (t) => {
  const algorithms = ['RS256', 'PS384', 'ES512', 'EdDSA']
  const { pairs, state, settings } = await keySet(t, ...algorithms)
  const send = await serve(t, settings)
  for (const [index, alg] of algorithms.entries()) {
    const token = await sign(pairs[index]?.privateKey as CryptoKey, alg, {}, { kid: `k${index}` })
    t.is((await send(`Bearer ${token}`)).caller?.identity, 'ada', alg)
  }
  t.is(state.asked, 1)
})

test('a token signed with a key that is not in the set, or under another key’s name, is refused', async (t) => {
  const { settings } = await keySet(t, 'RS256')
  const { privateKey } = await generateKeyPair('RS256')
  const send = await serve(t, settings)
  for (const kid of ['k0', 'k9', undefined]) {
    refused(t, await send(`Bearer ${await sign(privateKey, 'RS256', {}, kid === undefined ? {} : { kid })}`))
  }
})

test('a public key does not pass as a shared secret, nor the other way round', async (t) => {
  const { pairs, settings } = await keySet(t, 'RS256')
  const publicKey = pairs[0]?.publicKey as CryptoKey
  const byKey = await serve(t, settings)
  const pem = await exportSPKI(publicKey)
  const jwk = JSON.stringify(await exportJWK(publicKey))
  for (const text of [pem, pem.trim(), jwk, String((await exportJWK(publicKey)).n)]) {
    refused(t, await byKey(`Bearer ${await sign(bytes(text), 'HS256', {}, { kid: 'k0' })}`))
  }
  const bySecret = await serve(t, withSecret)
  refused(t, await bySecret(`Bearer ${await sign(pairs[0]?.privateKey as CryptoKey, 'RS256')}`))
})

test('a key set that cannot be had is the service’s trouble, not the caller’s', async (t) => {
  const { pairs } = await keySet(t, 'RS256')
  const token = await sign(pairs[0]?.privateKey as CryptoKey, 'RS256', {}, { kid: 'k0' })
  const broken = createServer((_, response) => response.writeHead(500).end('no keys today'))
  for (const url of ['http://127.0.0.1:1/keys', await listen(t, broken)]) {
    const send = await serve(t, { jwt: { kind: 'jwks', url }, ...open })
    const answer = await send(`Bearer ${token}`)
    t.is(answer.code, 'SERVICE_UNAVAILABLE')
    t.is(answer.challenge, null)
  }
})
