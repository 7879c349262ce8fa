import { html } from './htm.js'
import { base, provider } from './page.js'
import { linkIn, token } from './session.js'

/** Titles of responses without content. */
export const FAILURES = /** @type {Record<number, string>} */ ({
  400: 'Invalid request',
  401: provider ? 'Not signed in' : 'Access token needed',
  403: 'Access denied',
  404: 'Not found',
  410: 'Deleted',
  503: 'Not available',
})

/** What people can do about a status. */
const ADVICE = /** @type {Record<number, unknown>} */ ({
  401: provider
    ? 'Sign in above to see this page.'
    : html`Enter an access token above to see this page. The operator of this service issues tokens; on the machine that runs it, <code>npx halgraph token</code> prints one.`,
  403: provider
    ? 'Your account does not permit this. Whoever manages its roles can give it the missing scope.'
    : 'Your token does not permit this. Get one with the missing scope, and enter it above.',
  404: 'There is nothing at this address. The link may be old, or the address mistyped.',
})

/** @param {{ answer: import('./session.js').Answer }} properties */
export function Failure({ answer }) {
  const { status, body, text } = answer
  const history = linkIn(answer, 'version-history')
  const error = body?.error ?? { code: '', message: text }
  // Without a token, the message says how a client sends one.
  const message = status === 401 && token() === '' ? '' : error.message
  return html`<div role="alert" class="failure">
      ${ADVICE[status] && html`<p><strong>${ADVICE[status]}</strong></p>`}
      ${message && html`<p class="error">${message}</p>`}
      <${ErrorDetails} error=${error} />
    </div>
    ${history && html`<p><a href=${history}>History</a>: its versions, which you can restore</p>`}
    <p><a href=${base}>All collections</a></p>`
}

/**
 * The message of a refused request of a dialog.
 *
 * @param {number} status
 * @param {any} body
 */
export function messageOf(status, body) {
  if (body?.error?.code === 'CONCURRENT_MODIFICATION')
    return 'It was changed after this page showed it. Reload the page to see its current state.'
  if (status === 401 && provider && token() === '')
    return 'You are signed out. Sign in in another tab of this service, and send this again.'
  return body?.error?.message ?? `The response has the status ${status}.`
}

/** The codes of an error, on demand: they are for clients. */
export function ErrorDetails(/** @type {{ error: any }} */ { error: { code, message, details = [] } }) {
  if (!code) return null
  return html`<details class="note">
    <summary>Details for developers</summary>
    <ul>
      <li><${Code} code=${code} /></li>
      ${details.map(
        (/** @type {any} */ one) =>
          html`<li><${Code} code=${one.code} /> (${one.field})${one.message !== message && `: ${one.message}`}</li>`,
      )}
    </ul>
  </details>`
}

/** @param {{ code: string }} properties */
function Code({ code }) {
  return html`<a href=${new URL(`../../errors/${code}`, import.meta.url).href}>${code}</a>`
}

/**
 * A message of the service with the labels of fields instead of their names.
 *
 * @param {string} message
 * @param {{ name: string, prompt: string }[]} properties
 */
export function inLabels(message, properties) {
  const labels = new Map(
    properties.flatMap(({ name, prompt }) => [
      [name.split('.').at(-1), prompt],
      [name, prompt],
    ]),
  )
  // A word within the sentence is a name only if no sentence has such a word.
  return message.replaceAll(/\w+(?:\.\w+)*/g, (word, /** @type {number} */ at) =>
    at === 0 || /[_.]/.test(word) ? (labels.get(word) ?? word) : word,
  )
}
