import { provider } from './page.js'
import { changes, current, restore } from './sign-in.js'

// Sign in and Sign out, in the header of every page.

const control = /** @type {HTMLElement} */ (document.querySelector('#session'))
const [enter, leave] = /** @type {HTMLButtonElement[]} */ ([...control.querySelectorAll('button')])
const account = /** @type {HTMLDetailsElement} */ (control.querySelector('details'))
const reason = /** @type {HTMLElement} */ (control.querySelector('#session-reason'))
let isAsking = false

/** @param {string} [text] */
function show(text = '') {
  const name = current()?.name
  const [summary, who] = [account.querySelector('summary'), account.querySelector('p')]
  if (summary) summary.textContent = name ?? ''
  if (who) who.textContent = `Signed in as ${name} at ${new URL(provider.issuer ?? location.href).host}.`
  enter.hidden = name !== undefined
  account.hidden = name === undefined
  reason.textContent = text
  control.hidden = false
}

/** Says why the page cannot be shown. It is loaded again when another tab signs in. */
export function askForToken() {
  isAsking = true
  const text = current() ? 'The service does not accept this account.' : 'Sign in to see this page.'
  show(reason.textContent || text)
  enter.focus()
}

changes.addEventListener('change', (event) => {
  if (isAsking && current()) return location.reload()
  return show(/** @type {CustomEvent} */ (event).detail)
})
enter.addEventListener('click', async () => {
  if (!provider.issuer) return show('The sign-in service does not respond. Reload this page in a moment.')
  return (await import('./sign-in-flow.js')).signIn()
})
leave.addEventListener('click', async () => (await import('./sign-in-flow.js')).signOut())

await restore()
show(reason.textContent ?? '')
