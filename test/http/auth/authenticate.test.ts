import { createHmac, createSign, KeyObject } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair } from 'jose'
import {
  type Answer,
  bytes,
  keySet,
  listen,
  makeKeys,
  secret,
  serve,
  sign,
  withKeySet,
  withSecret,
} from '../../helpers/service/tokens.ts'

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const now = (): number => Math.floor(Date.now() / 1000)

function refused(t: ExecutionContext, answer: Answer, challenge?: string): void {
  t.is(answer.code, 'AUTHENTICATION_REQUIRED')
  if (challenge !== undefined) t.is(answer.challenge, challenge)
  else t.regex(answer.challenge ?? '', /^Bearer error="invalid_token", error_description="The [ a-z]+"$/)
}

/** A token with a header that no library would sign. */
function signedAsIs(alg: 'HS256' | 'ES256', header: object, key: string | KeyObject): string {
  const input = `${encode({ alg, ...header })}.${encode({ sub: 'ada' })}`
  const signature =
    typeof key === 'string'
      ? createHmac('sha256', key).update(input).digest()
      : createSign('sha256').update(input).sign({ key, dsaEncoding: 'ieee-p1363' })
  return `${input}.${signature.toString('base64url')}`
}

/** The order of the group of P-256. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** The token with the other valid form of its ECDSA signature: (r, n - s) in place of (r, s). */
function otherHalf(token: string): string {
  const [header, payload, signature = ''] = token.split('.')
  const [r, s] = [
    Buffer.from(signature, 'base64url').subarray(0, 32),
    Buffer.from(signature, 'base64url').subarray(32),
  ]
  const other = (ORDER - BigInt(`0x${s.toString('hex')}`)).toString(16).padStart(64, '0')
  return `${header}.${payload}.${Buffer.concat([r, Buffer.from(other, 'hex')]).toString('base64url')}`
}

/** A letter that differs in the last bit, which base64url does not use at the end of a signature of 64 bytes. */
function nextLetter(letter = ''): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return letters[letters.indexOf(letter) ^ 1] as string
}

test('a signed token names the caller and the scopes', async (t) => {
  const send = await serve(t, withSecret)
  const { caller } = await send(
    `Bearer ${await sign(bytes(secret), 'HS256', { scope: 'species:read  planets:write' })}`,
  )
  t.deepEqual(caller, { identity: 'ada', scopes: ['species:read', 'planets:write'] })
})

test('scopes are read from scope, scopes and scp, and other values are ignored', async (t) => {
  const send = await serve(t, withSecret)
  const claims = { sub: undefined, scope: undefined, scopes: ['a:read', 7, null], scp: 'b:read c:write' }
  const { caller } = await send(`bearer ${await sign(bytes(secret), 'HS256', claims)}`)
  t.deepEqual(caller?.scopes, ['a:read', 'b:read', 'c:write'])
})

test('the challenge says why a token is refused', async (t) => {
  const { pairs, settings } = await keySet(t, 'ES256', 'EdDSA')
  const required = { jwtIssuer: 'https://id.example.org', jwtAudience: 'halgraph' }
  const good = { iss: 'https://id.example.org', aud: 'halgraph' }
  const bySecret = await serve(t, { ...withSecret, ...required })
  const byKey = await serve(t, { ...settings, ...required })
  const key = pairs[0]?.privateKey as CryptoKey
  const other = (await generateKeyPair('ES256')).privateKey
  const challenges = (token: string) =>
    Promise.all([bySecret, byKey].map(async (send) => (await send(`Bearer ${token}`)).challenge ?? ''))
  for (const [claims, reason] of [
    [{ exp: now() - 1 }, /has expired/],
    [{ nbf: now() + 60 }, /not yet valid/],
    [{ exp: 'tomorrow' }, /malformed/],
    [{ exp: null }, /malformed/],
    [{ nbf: { seconds: 1 } }, /malformed/],
    [{ iss: 'https://evil.example.org' }, /issuer/],
    [{ aud: ['other'] }, /audience/],
  ] as const) {
    const all = { ...good, ...claims }
    t.regex((await challenges(await sign(bytes(secret), 'HS256', all)))[0] ?? '', reason)
    t.regex((await challenges(await sign(key, 'ES256', all, { kid: 'k0' })))[1] ?? '', reason)
    const edwards = pairs[1]?.privateKey as CryptoKey
    t.regex((await challenges(await sign(edwards, 'EdDSA', all, { kid: 'k1' })))[1] ?? '', reason)
  }
  const forged = await sign(bytes('another secret that is long enough'), 'HS256', good)
  const rotated = await sign(other, 'ES256', { ...good, exp: now() - 1 }, { kid: 'k9' })
  for (const [token, withKey, reason] of [
    [forged, false, /signature/],
    [forged, true, /algorithm/],
    [await sign(other, 'ES256', good, { kid: 'k0' }), true, /signature/],
    [await sign(other, 'ES256', good), true, /signature/],
    [rotated, true, /The key that signed the token is unknown/],
    [rotated, false, /algorithm/],
    [signedAsIs('HS256', { crit: ['exp'] }, secret), false, /extension/],
  ] as const) {
    t.regex((await challenges(token))[Number(withKey)] ?? '', reason)
  }
  const [header, payload, signature] = (await sign(key, 'ES256', good, { kid: 'k0' })).split('.')
  for (const malformed of [
    'x',
    'a.b.c',
    '',
    'a b',
    `${header}.${payload}`,
    `${header}.${payload}.${signature}.${signature}`,
    `${header}.${payload}.${signature}+`,
    `${header}..${signature}`,
    `${header}.${encode('text')}.${signature}`,
    `${header}.${encode(null)}.${signature}`,
    `${header}.${payload?.slice(0, -3)}.${signature}`,
    ...[7, null, [], {}, { alg: 7 }].map((other) => `${encode(other)}.${payload}.${signature}`),
  ]) {
    for (const challenge of await challenges(malformed)) t.regex(challenge, /malformed/, malformed)
  }
})

test('exp and nbf may be missed by the leeway of the settings, and iat is not compared', async (t) => {
  const { pairs, settings } = await keySet(t, 'ES256')
  const key = pairs[0]?.privateKey as CryptoKey
  const bySecret = await serve(t, { ...withSecret, jwtLeewaySeconds: 30 })
  const byKey = await serve(t, { ...settings, jwtLeewaySeconds: 30 })
  const answers = async (claims: object): Promise<Answer[]> => [
    await bySecret(`Bearer ${await sign(bytes(secret), 'HS256', claims)}`),
    await byKey(`Bearer ${await sign(key, 'ES256', claims, { kid: 'k0' })}`),
  ]
  for (const claims of [{ exp: now() - 15 }, { nbf: now() + 15 }, { iat: now() + 3_600 }])
    for (const { caller } of await answers(claims)) t.is(caller?.identity, 'ada')
  for (const claims of [{ exp: now() - 31 }, { nbf: now() + 60 }])
    for (const answer of await answers(claims)) refused(t, answer)
})

test('keys of the set that a token could name alike are tried until one verifies it', async (t) => {
  const { pairs, state, settings } = await keySet(t, 'ES256', 'ES256', 'RS256')
  const [first, second, other] = state.keys as [object, object, object]
  const unnamed = [first, second].map((key) => ({ ...key, kid: undefined }))
  const forged = await sign((await generateKeyPair('ES256')).privateKey, 'ES256', {}, { kid: 'k0' })
  for (const [keys, names] of [
    [unnamed, [undefined, undefined]],
    [
      [...unnamed, other],
      [undefined, undefined],
    ],
    [
      [first, first, second, second],
      ['k0', 'k1'],
    ],
    [
      [first, { ...second, kid: 'k0' }],
      ['k0', 'k0'],
    ],
    [
      [first, second],
      [undefined, undefined],
    ],
    [
      [{ ...first, x: 'AA' }, first, second],
      [undefined, undefined],
    ],
  ] as const) {
    state.keys = [...keys]
    const send = await serve(t, settings)
    for (const [index, kid] of names.entries()) {
      const header = kid === undefined ? {} : { kid }
      const token = (claims = {}) =>
        sign(pairs[index]?.privateKey as CryptoKey, 'ES256', claims, header).then((text) => `Bearer ${text}`)
      t.is((await send(await token())).caller?.identity, 'ada')
      t.regex((await send(await token({ exp: now() - 1 }))).challenge ?? '', /has expired/)
    }
    refused(t, await send(`Bearer ${forged}`))
  }
})

test('at most 16 keys are tried for one token', async (t) => {
  const { pairs, state, settings } = await keySet(t, 'ES256')
  const [own] = state.keys
  const { keys } = await makeKeys(...Array.from({ length: 16 }, () => 'ES256'))
  const token = await sign(pairs[0]?.privateKey as CryptoKey, 'ES256')
  const send = async (before: object[]) => {
    state.keys = [...before, own as object]
    return (await serve(t, settings))(`Bearer ${token}`)
  }
  t.is((await send(keys.slice(1))).caller?.identity, 'ada')
  t.regex((await send(keys)).challenge ?? '', /signature/)
})

test('a token that claims no scopes has those of DEFAULT_SCOPE, and none without it', async (t) => {
  const withDefault = await serve(t, { ...withSecret, defaultScope: 'species:read planets:read' })
  const without = await serve(t, withSecret)
  const scopesWith = async (send: typeof without, claims: object) =>
    (await send(`Bearer ${await sign(bytes(secret), 'HS256', claims)}`)).caller?.scopes
  t.deepEqual(await scopesWith(withDefault, { scope: undefined }), ['species:read', 'planets:read'])
  t.deepEqual(await scopesWith(withDefault, { scope: undefined, scp: ['a:read'] }), ['a:read'])
  t.deepEqual(await scopesWith(withDefault, { scope: '' }), [], 'an empty claim is a claim')
  t.deepEqual(await scopesWith(without, { scope: undefined }), [])
})

test('roles and groups give the scopes that SCOPES_MAP has for them, beside those that the token claims', async (t) => {
  const scopesMap = { editor: ['species:read', 'species:write'], 'All Staff': ['planets:read'] }
  const scopesWith = async (settings: object, claims: object) => {
    const send = await serve(t, { ...withSecret, ...settings })
    const token = await sign(bytes(secret), 'HS256', { scope: 'openid', ...claims })
    return (await send(`Bearer ${token}`)).caller?.scopes
  }
  const roles = ['editor', 'All Staff', 'unknown', 'constructor', '__proto__', 'species:write', 7]
  const all = ['openid', 'species:read', 'species:write', 'planets:read']
  for (const [scopesClaim, claims] of [
    ['realm_access.roles', { realm_access: { roles } }],
    ['resource_access.app.v2.roles', { resource_access: { app: {}, 'app.v2': { roles } } }],
    ['https://example.org/roles', { 'https://example.org/roles': roles }],
    ['groups', { groups: roles }],
    // Those of Zitadel are names of members.
    ['urn:roles', { 'urn:roles': { editor: { '1': 'acme.example.org' }, 'All Staff': {} } }],
  ] as const)
    t.deepEqual(await scopesWith({ scopesClaim, scopesMap }, claims), all, scopesClaim)
  t.deepEqual(await scopesWith({ scopesClaim: 'role', scopesMap }, { role: 'All Staff' }), [
    'openid',
    'planets:read',
  ])
  for (const claims of [{}, { role: null }, { role: 7 }, { 'role.a': roles }])
    t.deepEqual(await scopesWith({ scopesClaim: 'role', scopesMap }, claims), ['openid'])
  t.deepEqual(await scopesWith({ scopesMap }, { role: 'editor' }), ['openid'])
})

test('without SCOPES_MAP, the values of SCOPES_CLAIM are scopes', async (t) => {
  const send = await serve(t, { ...withSecret, scopesClaim: 'permissions' })
  const scopesOf = async (permissions: unknown) =>
    (await send(`Bearer ${await sign(bytes(secret), 'HS256', { scope: 'openid', permissions })}`)).caller
      ?.scopes
  t.deepEqual(await scopesOf(['species:read', 'species:write']), ['openid', 'species:read', 'species:write'])
  t.deepEqual(await scopesOf('species:read  planets:read'), ['openid', 'species:read', 'planets:read'])
})

test('a request without a token, or with another scheme, gets a Bearer challenge', async (t) => {
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
    const { pairs, settings } = await keySet(t, 'ES256', 'EdDSA')
    const bySecret = await serve(t, withSecret)
    refused(t, await bySecret(`Bearer ${await sign(bytes(secret), 'HS256', claims)}`))
    const byKey = await serve(t, settings)
    for (const [index, alg] of ['ES256', 'EdDSA'].entries()) {
      const key = pairs[index]?.privateKey as CryptoKey
      refused(t, await byKey(`Bearer ${await sign(key, alg, claims, { kid: `k${index}` })}`))
    }
  })
}

test('only the configured issuer and audience are accepted', async (t) => {
  const { pairs, settings } = await keySet(t, 'RS256', 'EdDSA')
  const required = { jwtIssuer: 'https://id.example.org', jwtAudience: 'halgraph' }
  const good = { iss: 'https://id.example.org', aud: ['other', 'halgraph'] }
  const key = pairs[0]?.privateKey as CryptoKey
  const bySecret = await serve(t, { ...withSecret, ...required })
  const byKey = await serve(t, { ...settings, ...required })
  const send = async (claims: object): Promise<Answer[]> => [
    await bySecret(`Bearer ${await sign(bytes(secret), 'HS256', claims)}`),
    await byKey(`Bearer ${await sign(key, 'RS256', claims, { kid: 'k0' })}`),
    await byKey(`Bearer ${await sign(pairs[1]?.privateKey as CryptoKey, 'EdDSA', claims, { kid: 'k1' })}`),
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
  const algorithms = ['RS256', 'PS384', 'ES512', 'EdDSA', 'Ed25519']
  const { pairs, state, settings } = await keySet(t, ...algorithms)
  const send = await serve(t, settings)
  for (const [index, alg] of algorithms.entries()) {
    const token = await sign(pairs[index]?.privateKey as CryptoKey, alg, {}, { kid: `k${index}` })
    t.is((await send(`Bearer ${token}`)).caller?.identity, 'ada', alg)
  }
  t.is(state.asked, 1)
})

test('a token signed with EdDSA must have been signed with the key that it names, and not be changed', async (t) => {
  const { pairs, settings } = await keySet(t, 'EdDSA', 'RS256')
  const send = await serve(t, settings)
  const other = (await generateKeyPair('EdDSA')).privateKey
  const token = await sign(pairs[0]?.privateKey as CryptoKey, 'EdDSA', {}, { kid: 'k0' })
  t.is((await send(`Bearer ${token}`)).caller?.identity, 'ada')
  const [header, , signature] = token.split('.')
  refused(t, await send(`Bearer ${header}.${encode({ sub: 'eve', scope: '*:write' })}.${signature}`))
  for (const kid of ['k0', 'k1', 'k9', undefined])
    refused(t, await send(`Bearer ${await sign(other, 'EdDSA', {}, kid === undefined ? {} : { kid })}`))
  const bySecret = await serve(t, withSecret)
  refused(t, await bySecret(`Bearer ${token}`))
})

test('a token signed with a key that is not in the set, or under another key’s name, is refused', async (t) => {
  const { settings } = await keySet(t, 'RS256')
  const { privateKey } = await generateKeyPair('RS256')
  const send = await serve(t, settings)
  for (const kid of ['k0', 'k9', undefined]) {
    refused(t, await send(`Bearer ${await sign(privateKey, 'RS256', {}, kid === undefined ? {} : { kid })}`))
  }
})

test('a public key is not accepted as a shared secret, nor the reverse', async (t) => {
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

test('a token that needs an extension which is not known is refused', async (t) => {
  const { pairs, settings } = await keySet(t, 'ES256')
  const bySecret = await serve(t, withSecret)
  const byKey = await serve(t, settings)
  for (const crit of [['exp-check'], ['b64', 'unknown'], []]) {
    const header = { crit, kid: 'k0', 'exp-check': true, unknown: 1 }
    refused(t, await bySecret(`Bearer ${signedAsIs('HS256', header, secret)}`))
    const key = KeyObject.from(pairs[0]?.privateKey as CryptoKey)
    refused(t, await byKey(`Bearer ${signedAsIs('ES256', header, key)}`))
  }
  t.is((await bySecret(`Bearer ${signedAsIs('HS256', {}, secret)}`)).caller?.identity, 'ada')
})

test('a token without a subject identifies one caller, however its signature is spelled', async (t) => {
  const { pairs, settings } = await keySet(t, 'ES256')
  const send = await serve(t, settings)
  const key = pairs[0]?.privateKey as CryptoKey
  const token = await sign(key, 'ES256', { sub: undefined }, { kid: 'k0' })
  const [first, ...spellings] = [token, otherHalf(token), `${token.slice(0, -1)}${nextLetter(token.at(-1))}`]
  const { caller } = await send(`Bearer ${first}`)
  for (const spelling of spellings)
    t.is((await send(`Bearer ${spelling}`)).caller?.identity, caller?.identity)
  const another = await sign(key, 'ES256', { sub: undefined, jti: 'another' }, { kid: 'k0' })
  t.not((await send(`Bearer ${another}`)).caller?.identity, caller?.identity)
})

test('an unavailable key set is SERVICE_UNAVAILABLE, not a refused token', async (t) => {
  const { pairs } = await keySet(t, 'RS256')
  const token = await sign(pairs[0]?.privateKey as CryptoKey, 'RS256', {}, { kid: 'k0' })
  const broken = await listen(t, (_, response) => void response.writeHead(500).end('no keys today'))
  for (const url of ['http://127.0.0.1:1/keys', broken]) {
    const send = await serve(t, withKeySet(url))
    const answer = await send(`Bearer ${token}`)
    t.is(answer.code, 'SERVICE_UNAVAILABLE')
    t.is(answer.challenge, null)
  }
})
