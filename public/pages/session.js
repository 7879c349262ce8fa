/**
 * The token is stored for a tab until it is closed. A new tab asks the open tabs of the service for theirs, so that
 * a link opened in a new tab works, and nothing stays behind when all are closed.
 */
const KEY = 'halgraph.token'
const channel = new BroadcastChannel('halgraph.token')
/** How long a new tab waits for the others, in milliseconds. */
const PATIENCE = 150

/** @type {Set<(token: string) => void>} */
const waiting = new Set()

channel.addEventListener('message', ({ data }) => {
  if (data.ask && token() !== '') channel.postMessage({ token: token() })
  if (data.token) for (const take of waiting) take(data.token)
  if (data.forget) sessionStorage.removeItem(KEY)
})

/** @returns {string} the token of this session, empty if there is none */
export function token() {
  return sessionStorage.getItem(KEY) ?? ''
}

/** Resolves once the token of another tab is here, or none has come. */
export async function shareToken() {
  if (token() !== '') return
  channel.postMessage({ ask: true })
  await new Promise((resolve) => {
    const take = (/** @type {string} */ value) => {
      sessionStorage.setItem(KEY, value)
      resolve(undefined)
    }
    waiting.add(take)
    setTimeout(() => {
      waiting.delete(take)
      resolve(undefined)
    }, PATIENCE)
  })
}

/** @param {string} value the token, or `Bearer <token>`; empty to forget it, in all tabs */
export function storeToken(value) {
  const text = value.trim().replace(/^Bearer\s+/i, '')
  if (text !== '') return sessionStorage.setItem(KEY, text)
  sessionStorage.removeItem(KEY)
  channel.postMessage({ forget: true })
}

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {Headers} headers
 * @property {string} text the body as sent
 * @property {any} body the parsed body; undefined if it is not JSON
 */

/**
 * Sends a request as any other client does.
 *
 * @param {string} url
 * @param {{ method?: string, body?: unknown, headers?: HeadersInit }} [options]
 * @returns {Promise<Answer>}
 */
export async function send(url, { method = 'GET', body, headers } = {}) {
  const all = new Headers(headers)
  if (!all.has('Accept')) all.set('Accept', 'application/prs.hal-forms+json, application/json;q=0.9')
  if (token() !== '') all.set('Authorization', `Bearer ${token()}`)
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await fetch(url, { method, headers: all, cache: 'no-store', ...sent })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('Content-Type') ?? '')
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : undefined,
  }
}

/**
 * The profile of the collection that an answer is of: its schema and its policies.
 *
 * @param {Answer} answer
 * @returns {Promise<any>} undefined if there is none
 */
export async function profileOf({ headers }) {
  const [, url] = /<([^>]+)>; rel="describedby"/.exec(headers.get('Link') ?? '') ?? []
  return url ? (await send(url, { headers: { Accept: 'application/json' } })).body : undefined
}
