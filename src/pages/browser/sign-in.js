import { provider } from './page.js'

/**
 * The session of a person who has signed in. Its tokens are in memory only: that of the pages, and that of a worker that
 * outlives them for half a minute, so that the next page has them, too.
 *
 * @typedef {{ access: string, refresh?: string, id?: string, name: string, until: number, at: number }} Session
 *   the tokens; `until` the access token expires, in milliseconds since 1970; `at` that time they were received
 */

const WORKER = new URL('docs/assets/session-worker.js', provider.redirect_uri).href
/** Set while this tab is signed in; no token. If the session is lost, the provider is asked for another without a question. */
const SIGNED_IN = 'halgraph.signed-in'
/** A token is renewed this many milliseconds before it expires. One that is refused is not renewed again so soon. */
const MARGIN = 10_000

let session = /** @type {Session | undefined} */ (undefined)
let worker = /** @type {ServiceWorker | null | undefined} */ (undefined)
let restoring = /** @type {Promise<void> | undefined} */ (undefined)

const channel = new BroadcastChannel('halgraph.session')
/** Events `change`: the session is another, or `detail` says why there is none. */
export const changes = new EventTarget()

channel.addEventListener('message', ({ data }) => {
  if (data.ask && session) channel.postMessage({ session })
  // What a tab answers to another is not new to the others.
  if ('session' in data && (data.session?.at ?? Infinity) > (session?.at ?? 0)) set(data.session)
})
// The browser may show this page again, which must not know a session that has ended meanwhile.
addEventListener('pagehide', () => {
  if (session) worker?.postMessage({ session })
  session = undefined
})
addEventListener('pageshow', ({ persisted }) => persisted && location.reload())

/** @param {string} [reason] for people */
export const explain = (reason) => void changes.dispatchEvent(new CustomEvent('change', { detail: reason }))

export const current = () => session

/** @param {Session | undefined} next */
function set(next) {
  session = next
  if (next) sessionStorage.setItem(SIGNED_IN, 'yes')
  else sessionStorage.removeItem(SIGNED_IN)
  explain()
}

/** What the worker keeps, after it has been told. @param {object} message @returns {Promise<Session | undefined>} */
async function ask(message) {
  const { port1, port2 } = new MessageChannel()
  worker?.postMessage(message, [port2])
  return new Promise((resolve) => {
    port1.onmessage = ({ data }) => resolve(data)
    setTimeout(resolve, worker ? 2_000 : 0)
  })
}

/** Makes a session that of all pages; undefined ends it. @param {Session | undefined} next */
export function share(next) {
  set(next)
  channel.postMessage({ session: next })
  return ask({ session: next })
}

/** @throws {Error} where pages have no workers, such as without https */
export async function startWorker() {
  const { active, waiting, installing } = await navigator.serviceWorker.register(WORKER)
  worker = active ?? waiting ?? installing
}

/** Takes over the session of the worker or of another tab. On the way back from the provider, begins one. */
export function restore() {
  restoring ??= load()
  return restoring
}

async function load() {
  const wasSignedIn = sessionStorage.getItem(SIGNED_IN) !== null
  worker = (await navigator.serviceWorker?.getRegistration(WORKER).catch(() => undefined))?.active
  const { href } = location
  if (href.startsWith(`${provider.redirect_uri}?`) && new URL(href).searchParams.has('state'))
    await (await import('./sign-in-flow.js')).finish(href)
  const found = session ?? (await ask({})) ?? (await askTabs())
  const isUsable = found && (found.refresh || Date.now() < found.until)
  set(isUsable ? found : undefined)
  if (!isUsable && wasSignedIn) await (await import('./sign-in-flow.js')).signIn('none')
}

/** @returns {Promise<Session | undefined>} */
function askTabs() {
  channel.postMessage({ ask: true })
  return new Promise((resolve) => {
    channel.addEventListener('message', ({ data }) => data.session && resolve(data.session))
    setTimeout(resolve, 150)
  })
}

/**
 * Renews the access token before it expires, or after it was refused: once for all tabs, because some providers take a refresh
 * token only once.
 *
 * @param {string} [refused]
 * @returns {Promise<boolean>} whether there is another than the refused one
 */
export async function renew(refused) {
  await restore()
  const isDue = () => {
    const [age, left] = [Date.now() - (session?.at ?? 0), (session?.until ?? 0) - Date.now()]
    return (
      session?.refresh && (session.access === refused ? age > MARGIN : left < MARGIN && age > MARGIN / 10)
    )
  }
  const renewed = async () => {
    const latest = await ask({})
    if (latest && session && latest.at > session.at) set(latest)
    if (!session || !isDue()) return
    try {
      await share(await (await import('./sign-in-flow.js')).refreshed(session))
    } catch (/** @type {any} */ { error }) {
      // A provider that does not respond is asked again with the next request.
      if (!error) return explain('The sign-in service does not respond.')
      await share(undefined)
      explain('Your session has ended. Sign in again, here or in another tab.')
    }
  }
  if (isDue()) await navigator.locks.request('halgraph.session', renewed)
  return session !== undefined && session.access !== refused
}
