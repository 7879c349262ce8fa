import { html } from './htm.js'
import { token } from './session.js'

/**
 * The field for the token, or the button that forgets it.
 *
 * @param {{ isRefused: boolean, use: (token: string) => void }} properties
 */
export function TokenForm({ isRefused, use }) {
  if (token() !== '' && !isRefused) {
    return html`<p class="session">With an access token. <button type="button" class="quiet" onClick=${() => use('')}>Forget token</button></p>`
  }
  const submit = (/** @type {any} */ event) => {
    event.preventDefault()
    use(event.target.elements.token.value)
  }
  return html`<form class="token" onSubmit=${submit}>
    <label>Access token <input type="password" name="token" autocomplete="off" required aria-describedby="token-note" /></label>
    <button type="submit">Use token</button>
    <p id="token-note" class="note">Kept while a tab of this service is open. <code>npm run --silent token</code> prints a token.</p>
  </form>`
}
