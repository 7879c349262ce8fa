import { html, render, useEffect, useState } from './htm.js'
import { provider } from './page.js'
import { send, token } from './session.js'
import { askForToken } from './session-control.js'

/** Links to the namespaces that the caller may use. */
function Namespaces() {
  const [links, setLinks] = useState(/** @type {{ name: string, href: string }[] | undefined} */ (undefined))
  const load = async () => {
    const { status, body } = await send(new URL('../..', import.meta.url).href, {
      headers: { Accept: 'application/json' },
    })
    if (status === 200) setLinks(body._links.namespaces)
    else if (status === 401 && token() !== '') askForToken()
  }
  useEffect(() => {
    void load()
  }, [])
  if (!links)
    return html`<p class="note">${provider ? 'After signing in, this page shows your namespaces.' : 'With an access token, this page shows the namespaces that it names.'}</p>`
  if (links.length === 0)
    return html`<p class="empty">${provider ? 'You have no namespace.' : 'The token names no namespace.'}</p>`
  return html`<ul class="cards">
    ${links.map(({ name, href }) => html`<li key=${name}><a href=${new URL('.', href).href}>${name}</a></li>`)}
  </ul>`
}

const view = /** @type {HTMLElement} */ (document.getElementById('view'))
render(html`<${Namespaces} />`, view)
