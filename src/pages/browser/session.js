import { provider } from './page.js'

/** Where people sign in, the token is that of their session. */
const signedIn = provider && (await import('./sign-in.js'))

/**
 * The token is stored until the tab is closed. A new tab asks the open tabs of the service for their token, so that links
 * work in a new tab. When all tabs are closed, the token is gone.
 */
const KEY = 'halgraph.token'
const channel = new BroadcastChannel('halgraph.token')
/** The `Consistency-Token` of the last write of this tab: reads with it, from any process, see that write. */
const WRITTEN = 'halgraph.written'
/** How long a new tab waits for the others, in milliseconds. */
const PATIENCE = 150

/** @type {Set<(session: { token: string, written: string | null }) => void>} */
const waiting = new Set()

channel.addEventListener('message', ({ data }) => {
  if (data.ask && token() !== '')
    channel.postMessage({ token: token(), written: sessionStorage.getItem(WRITTEN) })
  if (data.token) for (const take of waiting) take(data)
  if (data.forget) sessionStorage.removeItem(KEY)
})

/** @returns {string} the token of this session, empty if there is none */
export function token() {
  if (signedIn) return signedIn.current()?.access ?? ''
  return sessionStorage.getItem(KEY) ?? ''
}

/** Resolves when another tab has sent its tokens, or none has answered in time. */
export async function shareToken() {
  if (signedIn) return signedIn.restore()
  if (token() !== '') return
  channel.postMessage({ ask: true })
  await new Promise((resolve) => {
    const take = (/** @type {{ token: string, written: string | null }} */ session) => {
      sessionStorage.setItem(KEY, session.token)
      if (session.written) sessionStorage.setItem(WRITTEN, session.written)
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

const FOCUS = 'halgraph.focus'

/** @typedef {{ text?: string, href?: string }} Notice what the next page says, and where a link leads */

/** Makes the next page, or a reload, take the focus: the control that had it is gone. @param {Notice} [notice] */
export function passFocus(notice = {}) {
  sessionStorage.setItem(FOCUS, JSON.stringify(notice))
}

/** Whether this page has to take the focus, only once, and its notice. @returns {Notice | undefined} */
export function takesFocus() {
  const passed = sessionStorage.getItem(FOCUS)
  sessionStorage.removeItem(FOCUS)
  return passed === null ? undefined : JSON.parse(passed)
}

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {Headers} headers
 * @property {string} text the body as sent
 * @property {any} body the parsed body; undefined if it is not JSON
 */

/**
 * Sends a request with the tokens of this session.
 *
 * @param {string | URL} url
 * @param {RequestInit} options
 * @returns {Promise<Response>}
 */
export async function request(url, options) {
  await signedIn?.renew()
  const used = token()
  const headers = new Headers(options.headers)
  const tokens = {
    Authorization: used && `Bearer ${used}`,
    'Consistency-Token': sessionStorage.getItem(WRITTEN),
  }
  for (const [name, value] of Object.entries(tokens))
    if (value && !headers.has(name)) headers.set(name, value)
  const response = await fetch(url, { ...options, headers })
  // A request that was refused has had no effect.
  if (response.status === 401 && used && (await signedIn?.renew(used))) return request(url, options)
  const written = response.headers.get('Consistency-Token')
  if (written) sessionStorage.setItem(WRITTEN, written)
  return response
}

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
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  return answerIn(await request(url, { method, headers: all, cache: 'no-store', ...sent }))
}

/**
 * @param {Response} response
 * @returns {Promise<Answer>}
 */
export async function answerIn(response) {
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
 * The target of a link in the headers of a response.
 *
 * @param {Answer} answer
 * @param {string} relation
 * @returns {string | undefined}
 */
export function linkIn({ headers }, relation) {
  const links = [...(headers.get('Link') ?? '').matchAll(/<([^<>]+)>; rel="([\w-]+)"/g)]
  return links.find(([, , name]) => name === relation)?.[1]
}

/**
 * The profile of the collection of a response: its schema and policies.
 *
 * @param {Answer} answer
 * @returns {Promise<any>} undefined if there is none
 */
export async function profileOf(answer) {
  const url = linkIn(answer, 'describedby')
  return url ? (await send(url, { headers: { Accept: 'application/json' } })).body : undefined
}

/**
 * The blocks of a stream of events, as they come.
 *
 * @param {NonNullable<Response["body"]>} body
 */
export async function* blocksOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (let text = ''; ; ) {
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (text + value).split('\n\n')
      text = blocks.pop() ?? ''
      yield* blocks
    }
  } finally {
    // Fails where the stream has failed.
    reader.cancel().catch(() => {})
  }
}

/** After a stream of changes has ended, it is continued this many milliseconds later. */
const PAUSE = 5_000

/**
 * Follows the feed of changes while the page is visible.
 *
 * @param {string} url the feed, from a position on
 * @param {() => void} tell called for each change
 * @returns {() => void} ends it
 */
export function followChanges(url, tell) {
  let last = ''
  const read = async (/** @type {AbortSignal} */ signal) => {
    const headers = { Accept: 'text/event-stream', ...(last && { 'Last-Event-ID': last }) }
    const { ok, body } = await request(url, { headers, signal })
    if (!ok || !body) return false
    for await (const block of blocksOf(body)) {
      last = /^id: (.*)$/m.exec(block)?.[1] ?? last
      if (/^data: /m.test(block) && !/^event: position$/m.test(block)) tell()
    }
    return true
  }
  const follow = async (/** @type {AbortSignal} */ signal) => {
    // A token that has expired, or a position that is gone, is not asked for again.
    while (!signal.aborted && (await read(signal).catch(() => true)))
      await new Promise((resolve) => setTimeout(resolve, PAUSE))
  }
  let ending = new AbortController()
  const update = () => {
    ending.abort()
    ending = new AbortController()
    if (!document.hidden) follow(ending.signal)
  }
  document.addEventListener('visibilitychange', update)
  update()
  return () => {
    document.removeEventListener('visibilitychange', update)
    ending.abort()
  }
}
