import { createServer, type RequestListener } from 'node:http'
import type { ExecutionContext } from 'ava'
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose'
import Koa from 'koa'
import { authenticate } from '../../../src/http/auth/authenticate.ts'
import type { TokenSettings } from '../../../src/http/auth/verify-token.ts'
import { HttpError } from '../../../src/http/errors.ts'
import { DomainError } from '../../../src/model/errors.ts'
import { listenWith } from '../process/listen-with.ts'

/** The secret of {@link withSecret}. */
export const secret = 'a secret that is long enough for it'
export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const anyone = { jwtIssuer: undefined, jwtAudience: undefined, jwtLeewaySeconds: 0 }
export const withSecret: TokenSettings = { jwt: { kind: 'secret', secret }, ...anyone }

/** Settings that verify tokens with the key set at an address. */
export function withKeySet(url: string, maximumStaleHours = 24): TokenSettings {
  return { jwt: { kind: 'jwks', url, maximumStaleHours }, ...anyone }
}

export interface Answer {
  status: number
  code?: string
  challenge: string | null
  caller?: { identity: string; scopes: string[] }
}

/** Starts a server that ends with the test; resolves to its address. */
export function listen(t: ExecutionContext, handle: RequestListener): Promise<string> {
  return listenWith(t, createServer(handle))
}

/** A server that answers with the caller, or with the code of the refusal. */
export async function serve(
  t: ExecutionContext,
  settings: TokenSettings,
  faults: unknown[] = [],
): Promise<(header?: string) => Promise<Answer>> {
  const app = new Koa()
  app.use(async (context, next) => {
    try {
      await next()
    } catch (error) {
      if (error instanceof HttpError) context.set(error.headers)
      context.body = { code: error instanceof DomainError ? error.code : String(error) }
    }
  })
  app.use(authenticate(settings, (error) => faults.push(error)))
  app.use((context) => {
    const { identity, scopes } = context.state['caller']
    context.body = { caller: { identity, scopes: [...scopes] } }
  })
  const address = await listen(t, app.callback())
  return async (header) => {
    const response = await fetch(address, header === undefined ? {} : { headers: { Authorization: header } })
    return {
      status: response.status,
      challenge: response.headers.get('www-authenticate'),
      ...((await response.json()) as object),
    }
  }
}

/** Signs a token of Ada's that may read species, unless the claims say otherwise. */
export function sign(
  key: CryptoKey | Uint8Array,
  alg: string,
  claims: object = {},
  header: object = {},
): Promise<string> {
  return new SignJWT({ sub: 'ada', scope: 'species:read', ...claims })
    .setProtectedHeader({ alg, ...header })
    .sign(key)
}

/** Key pairs, and the public keys of them as a key set has them, named k0, k1 and so on. */
export async function makeKeys(...algorithms: string[]) {
  const pairs = await Promise.all(
    algorithms.map((alg) =>
      generateKeyPair(alg, { extractable: true, ...(alg.startsWith('Ed') ? { crv: 'Ed25519' } : {}) }),
    ),
  )
  const published = pairs.map(async ({ publicKey }, index) => ({
    ...(await exportJWK(publicKey)),
    kid: `k${index}`,
  }))
  return { pairs, keys: await Promise.all(published) }
}

/** Key pairs, and a server that publishes the public keys, or other ones, and counts how often it is asked. */
export async function keySet(t: ExecutionContext, ...algorithms: string[]) {
  const { pairs, keys } = await makeKeys(...algorithms)
  const state = { asked: 0, keys: keys as object[] }
  const url = await listen(t, (_, response) => {
    state.asked += 1
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys: state.keys }))
  })
  return { pairs, state, settings: withKeySet(url) }
}
