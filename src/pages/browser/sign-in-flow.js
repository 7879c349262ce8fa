import * as oauth from 'oauth4webapi'
import { provider } from './page.js'
import { current, explain, share, startWorker } from './sign-in.js'

/** What the way to the provider and back needs, without tokens. */
const PENDING = 'halgraph.pending'

const { client_id, redirect_uri, scope, audience, ...server } = provider
const client = { client_id }
// An audience that is a URI has a standard parameter (RFC 8707 §2); `audience` is Auth0's.
const asked = audience && { audience, ...(URL.canParse(audience) && { resource: audience }) }
const options = () => ({
  signal: AbortSignal.timeout(10_000),
  // Only of an issuer without https, which the operator has chosen.
  [oauth.allowInsecureRequests]: server.issuer.startsWith('http:'),
  additionalParameters: { ...asked },
})

/** A page that is being left does not go on. @returns {Promise<void>} */
const leave = () => new Promise(() => {})

/** @param {string} address @param {Record<string, string | undefined>} parameters */
function addressWith(address, parameters) {
  const url = new URL(address)
  for (const [name, value] of Object.entries(parameters)) if (value) url.searchParams.set(name, value)
  return url
}

/** Otherwise the browser would leave for a page that does not exist. */
async function isReachable() {
  const request = fetch(server.token_endpoint, { method: 'HEAD', mode: 'no-cors', signal: options().signal })
  return (await request.catch(() => undefined)) !== undefined
}

/**
 * Goes to the provider, which asks the person to sign in (RFC 6749 §4.1, RFC 7636, OpenID Connect Core 1.0 §3.1).
 *
 * @param {'none'} [prompt] to come back without a session if it would have to ask (§3.1.2.1)
 */
export async function signIn(prompt) {
  try {
    await startWorker()
  } catch {
    return explain(`To sign in, open ${redirect_uri} with https, and allow this site to store data.`)
  }
  if (!(await isReachable())) return explain('The sign-in service does not respond. Try again in a moment.')
  const verifier = oauth.generateRandomCodeVerifier()
  const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()]
  const pending = { verifier, state, nonce, from: location.href, isSilent: prompt !== undefined }
  sessionStorage.setItem(PENDING, JSON.stringify(pending))
  const url = addressWith(server.authorization_endpoint, {
    ...{ client_id, redirect_uri, scope, state, nonce, prompt, ...asked, response_type: 'code' },
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  // A silent attempt is no step to go back to.
  location[prompt ? 'replace' : 'assign'](url)
  return leave()
}

/** Exchanges the code of a response for tokens, and returns to the page that asked. @param {string} href */
export async function finish(href) {
  const { from, isSilent, ...pending } = JSON.parse(sessionStorage.getItem(PENDING) ?? '{}')
  sessionStorage.removeItem(PENDING)
  history.replaceState(null, '', redirect_uri)
  // Another site has sent the browser here.
  if (from === undefined) return
  try {
    const parameters = oauth.validateAuthResponse(server, client, new URL(href), pending.state)
    const code = /** @type {const} */ ([parameters, redirect_uri, pending.verifier, options()])
    const response = await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), ...code)
    const checks = /\bopenid\b/.test(scope) ? { expectedNonce: pending.nonce } : {}
    const session = sessionOf(await oauth.processAuthorizationCodeResponse(server, client, response, checks))
    await startWorker()
    if (!(await share(session))) throw new Error('this browser keeps no session')
  } catch (/** @type {any} */ error) {
    const reason = error.error_description ?? error.error ?? error.message
    if (!isSilent) return explain(`Signing in failed: ${reason}.`)
  }
  // To another fragment of this page, the browser would not load it.
  if (from.startsWith(`${redirect_uri}#`)) return history.replaceState(null, '', from)
  location.replace(from)
  return leave()
}

/** RFC 6749 §6. @param {import('./sign-in.js').Session} session */
export async function refreshed(session) {
  const { refresh = '' } = session
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refresh, options())
  return sessionOf(await oauth.processRefreshTokenResponse(server, client, response), session)
}

/**
 * @param {oauth.TokenEndpointResponse} tokens
 * @param {Partial<import('./sign-in.js').Session>} [previous] what a response may leave out
 */
function sessionOf(tokens, previous = {}) {
  const { name, preferred_username, email, sub } = /** @type {any} */ (
    oauth.getValidatedIdTokenClaims(tokens) ?? {}
  )
  return {
    access: tokens.access_token,
    refresh: tokens.refresh_token ?? previous.refresh,
    id: tokens.id_token ?? previous.id,
    name: name ?? preferred_username ?? email ?? previous.name ?? sub ?? 'Signed in',
    until: Date.now() + (tokens.expires_in ?? Infinity) * 1_000,
    at: Date.now(),
  }
}

/** Ends the session here, in all tabs and at the provider (RFC 7009, OpenID Connect RP-Initiated Logout 1.0). */
export async function signOut() {
  const { refresh = '', id } = current() ?? {}
  await share(undefined)
  if (refresh && server.revocation_endpoint)
    await oauth.revocationRequest(server, client, oauth.None(), refresh, options()).catch(() => {})
  if (!server.end_session_endpoint || !(await isReachable())) return location.reload()
  const ended = { client_id, id_token_hint: id, post_logout_redirect_uri: redirect_uri }
  return location.assign(addressWith(server.end_session_endpoint, ended))
}
