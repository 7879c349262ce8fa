import { passFocus, shareToken, storeToken, token } from './session.js'

// The access token, in the header of every page. A page is loaded again with another token.

const control = /** @type {HTMLDetailsElement} */ (document.querySelector('#session'))
const form = /** @type {HTMLFormElement} */ (control.querySelector('form'))
const field = /** @type {HTMLInputElement} */ (form.elements.namedItem('token'))
const forget = /** @type {HTMLButtonElement} */ (form.elements.namedItem('forget'))

/** Opens the field for the token, with the reason. */
export function askForToken() {
  const reason = /** @type {HTMLElement} */ (form.querySelector('#session-reason'))
  reason.textContent =
    token() === '' ? 'This page needs an access token.' : 'The service does not accept this access token.'
  control.open = true
  field.focus()
}

/** The claims of the token; none if it is not a JSON Web Token. */
function claims() {
  try {
    const [, payload = ''] = token().split('.')
    return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')))
  } catch {
    return {}
  }
}

function show() {
  const { sub, exp } = claims()
  const summary = /** @type {HTMLElement} */ (control.querySelector('summary'))
  const isStored = token() !== ''
  const name = typeof sub === 'string' ? `Token of ${sub.slice(0, 40)}` : 'Token in use'
  summary.textContent = isStored ? name : 'Access token'
  summary.title = isStored && exp > 0 ? `Expires ${new Date(exp * 1000).toUTCString()}` : ''
  forget.hidden = !isStored
  control.hidden = false
}

/** @param {string} value */
function use(value) {
  storeToken(value)
  passFocus()
  location.reload()
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  use(field.value)
})
forget.addEventListener('click', () => use(''))
control.addEventListener('toggle', () => control.open && field.focus())

show()
await shareToken()
show()
