import { anchor, element } from './elements.js'
import { representationView } from './representation-view.js'
import { requestView } from './request-view.js'
import { fetchAnswer, storeToken, token } from './session.js'

const view = /** @type {HTMLElement} */ (document.querySelector('#view'))

/** Fetches the resource at the address of this page and shows the response. */
async function show() {
  const url = location.href.replace(/#.*$/, '')
  try {
    const answer = await fetchAnswer(url)
    const content = answer.status < 400 ? representationView(answer.body) : errorView(answer)
    document.title = `${decodeURIComponent(location.pathname)} – halgraph`
    view.replaceChildren(
      heading(answer.status),
      tokenForm(answer.status),
      ...content,
      ...requestView(url, answer),
    )
  } catch (error) {
    view.replaceChildren(
      element('h1', {}, 'No response'),
      element('p', {}, `The service did not respond: ${error}`),
    )
  }
}

/** @param {number} status */
function heading(status) {
  const kind = status < 400 ? 'good' : 'bad'
  return element(
    'div',
    { class: 'heading' },
    element('h1', {}, decodeURIComponent(location.pathname)),
    element('span', { class: `status ${kind}` }, `${status}`),
  )
}

/** @param {string} code */
function errorAnchor(code) {
  return anchor(new URL(`../../errors/${code}`, import.meta.url).href, code)
}

/** @param {import('./session.js').Answer} answer */
function errorView({ body, text }) {
  const { code, message, details = [] } = body?.error ?? { code: '', message: text }
  const items = details.map((/** @type {{ field: string, code: string, message: string }} */ detail) =>
    element('li', {}, errorAnchor(detail.code), ` ${detail.message}`),
  )
  return [
    element('p', { class: 'error' }, errorAnchor(code), ` ${message}`),
    ...(items.length > 0 ? [element('ul', {}, ...items)] : []),
  ]
}

/** @param {number} status */
function tokenForm(status) {
  if (token() !== '' && status !== 401) {
    const forget = element(
      'button',
      { type: 'button', class: 'quiet', onclick: () => useToken('') },
      'Forget token',
    )
    return element('p', { class: 'session' }, 'This tab has an access token. ', forget)
  }
  const input = /** @type {HTMLInputElement} */ (
    element('input', {
      type: 'password',
      name: 'token',
      autocomplete: 'off',
      required: true,
      'aria-describedby': 'token-note',
    })
  )
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    useToken(input.value)
  }
  return element(
    'form',
    { class: 'token', onsubmit: submit },
    element('label', {}, 'Access token ', input),
    element('button', { type: 'submit' }, 'Use token'),
    element(
      'p',
      { id: 'token-note', class: 'note' },
      'Stored in this tab only. npm run --silent token prints a token.',
    ),
  )
}

/** @param {string} value */
function useToken(value) {
  storeToken(value)
  void show()
}

void show()
