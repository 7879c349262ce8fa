import type { ServerResponse } from 'node:http'
import test, { type ExecutionContext } from 'ava'
import type { CryptoKey } from 'jose'
import { until } from '../../helpers/process/until.ts'
import { listen, makeKeys, serve, sign, withKeySet } from '../../helpers/service/tokens.ts'

// The tests move the clock of the process on, so they run one after the other.

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const { now } = Date
let signed = 0

/** A service that verifies tokens with a key server, or with its metadata, and can tell it to misbehave. */
async function start(t: ExecutionContext, maximumStaleHours = 24, kind: 'jwks' | 'issuer' = 'jwks') {
  const { pairs, keys } = await makeKeys('ES256', 'ES256')
  const server = {
    asked: 0,
    published: [keys[0]],
    issuer: '',
    respond: (response: ServerResponse): void => {
      response.end(JSON.stringify({ keys: server.published }))
    },
  }
  const url = await listen(t, (request, response) => {
    if (request.url === '/.well-known/openid-configuration' && server.issuer !== '')
      return void response.end(
        JSON.stringify({
          issuer: server.issuer,
          jwks_uri: `${url}/keys`,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
        }),
      )
    server.asked += 1
    server.respond(response)
  })
  const faults: unknown[] = []
  const send = await serve(
    t,
    { ...withKeySet(url, maximumStaleHours), jwt: { kind, url, maximumStaleHours } },
    faults,
  )
  let passed = 0
  t.teardown(() => {
    Date.now = now
  })
  return {
    url,
    server,
    faults,
    keys,
    /** Sends a new token that names a key, and is signed with the first one unless told otherwise. */
    async sendSignedWith(kid: string, pair = 0): Promise<string> {
      const token = await sign(
        pairs[pair]?.privateKey as CryptoKey,
        'ES256',
        { jti: String(++signed) },
        { kid },
      )
      const { caller, code } = await send(`Bearer ${token}`)
      return caller?.identity ?? (code as string)
    },
    pass(milliseconds: number) {
      passed += milliseconds
      Date.now = () => now() + passed
    },
  }
}

const broken = (response: ServerResponse) => void response.writeHead(500).end()
const hanging = () => {}

for (const [fault, respond] of Object.entries({ broken, hanging })) {
  test.serial(
    `while the key server is ${fault}, tokens of known keys are accepted and others are 503`,
    async (t) => {
      const { server, sendSignedWith, pass } = await start(t)
      t.is(await sendSignedWith('k0'), 'ada')
      server.respond = respond
      for (const time of [11 * MINUTE, 2 * HOUR, 20 * HOUR]) {
        pass(time)
        t.is(await sendSignedWith('k0'), 'ada')
        t.is(await sendSignedWith('k1'), 'SERVICE_UNAVAILABLE')
      }
    },
  )
}

test.serial(
  'an issuer that names its keys later than the start is asked again, and the metadata of another is not used',
  async (t) => {
    const { url, server, sendSignedWith, pass } = await start(t, 24, 'issuer')
    server.respond = broken
    t.is(await sendSignedWith('k0'), 'SERVICE_UNAVAILABLE')
    server.respond = (response) => void response.end(JSON.stringify({ keys: server.published }))
    server.issuer = `${url}/other`
    t.is(await sendSignedWith('k0'), 'SERVICE_UNAVAILABLE', 'not at once')
    pass(11_000)
    t.is(await sendSignedWith('k0'), 'SERVICE_UNAVAILABLE', 'of another issuer')
    server.issuer = url
    pass(11_000)
    t.is(await sendSignedWith('k0'), 'ada')
    server.issuer = ''
    server.respond = broken
    pass(20 * HOUR)
    t.is(await sendSignedWith('k0'), 'ada', 'known keys stay in use')
  },
)

test.serial('a known key is used while the key server still has not answered', async (t) => {
  const { server, sendSignedWith, pass } = await start(t)
  await sendSignedWith('k0')
  let answer = () => {}
  server.respond = (response) => {
    answer = () => void response.end(JSON.stringify({ keys: [] }))
  }
  pass(11 * MINUTE)
  t.is(await sendSignedWith('k0'), 'ada')
  await until(() => server.asked === 2)
  t.is(await sendSignedWith('k0'), 'ada')
  answer()
})

test.serial('keys that could not be fetched again for longer than the setting are not used', async (t) => {
  const { server, sendSignedWith, pass } = await start(t, 1)
  await sendSignedWith('k0')
  server.respond = broken
  pass(HOUR - MINUTE)
  t.is(await sendSignedWith('k0'), 'ada')
  pass(2 * MINUTE)
  t.is(await sendSignedWith('k0'), 'SERVICE_UNAVAILABLE')
  server.respond = (response) => void response.end(JSON.stringify({ keys: server.published }))
  pass(MINUTE)
  t.is(await sendSignedWith('k0'), 'ada')
})

test.serial('a key that is withdrawn is not used after the next refresh', async (t) => {
  const { server, keys, sendSignedWith, pass } = await start(t)
  await sendSignedWith('k0')
  server.published = [keys[1]]
  pass(11 * MINUTE)
  await until(async () => (await sendSignedWith('k0')) === 'AUTHENTICATION_REQUIRED')
  t.is(await sendSignedWith('k1', 1), 'ada')
})

test.serial('a new key is fetched when a token names it, at most every 30 seconds', async (t) => {
  const { server, keys, sendSignedWith, pass } = await start(t)
  await sendSignedWith('k0')
  for (let count = 0; count < 5; count++) t.is(await sendSignedWith('k1', 1), 'AUTHENTICATION_REQUIRED')
  t.is(server.asked, 1)
  server.published = [...keys]
  pass(31_000)
  t.is(await sendSignedWith('k1', 1), 'ada')
  t.is(server.asked, 2)
})

test.serial('a key server that fails is not asked again at once, and each failure is reported', async (t) => {
  const { server, faults, sendSignedWith, pass } = await start(t)
  await sendSignedWith('k0')
  server.respond = broken
  pass(11 * MINUTE)
  for (let count = 0; count < 5; count++) {
    await sendSignedWith('k0')
    await sendSignedWith('k1')
  }
  t.is(server.asked, 2)
  t.is(faults.length, 1)
  pass(11_000)
  await sendSignedWith('k0')
  await until(() => faults.length === 2)
  t.is(server.asked, 3)
})
