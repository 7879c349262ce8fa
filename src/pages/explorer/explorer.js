// The explorer: GraphiQL with a field for the access token and with example operations.

import { request, shareToken, storeToken, token } from '../../docs/assets/session.js'

const scheme = matchMedia('(prefers-color-scheme: dark)')
const notice = document.getElementById('notice')
const field = document.getElementById('token')
const root = ReactDOM.createRoot(document.getElementById('explorer'))
let shown = 0

/** Stores the token and the queries in this tab only. */
const storage = {
  getItem: (name) => sessionStorage.getItem(name),
  setItem: (name, value) => sessionStorage.setItem(name, value),
  removeItem: (name) => sessionStorage.removeItem(name),
  clear: () => sessionStorage.clear(),
  get length() {
    return sessionStorage.length
  },
}

async function send(parameters, { headers = {} } = {}) {
  const response = await request(new URL('../../graphql', import.meta.url), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json', ...headers },
    body: JSON.stringify(parameters),
  })
  const isRefused = response.status === 401
  notice.textContent = isRefused ? noticeFor() : ''
  return response.json()
}

function noticeFor() {
  return token()
    ? 'The service does not accept this access token, or it has expired.'
    : 'Paste an access token above. `npm run token` prints one.'
}

/** Renders a new GraphiQL, which fetches the schema with the current token. */
function show(query) {
  shown += 1
  root.render(
    React.createElement(GraphiQL, {
      key: shown,
      fetcher: send,
      storage,
      shouldPersistHeaders: false,
      isHeadersEditorEnabled: true,
      forcedTheme: scheme.matches ? 'dark' : 'light',
      ...(query === undefined ? {} : { query }),
    }),
  )
}

/** The editors have no labels of their own. */
new MutationObserver(() => {
  for (const input of document.querySelectorAll('#explorer textarea:not([aria-label])')) {
    const region = input.closest('section, [aria-label]')
    input.setAttribute('aria-label', region?.getAttribute('aria-label') ?? 'Editor')
  }
}).observe(document.getElementById('explorer'), { childList: true, subtree: true })

async function loadExamples() {
  const examples = await (await fetch(new URL('examples.json', import.meta.url))).json()
  const select = document.getElementById('examples')
  for (const { title } of examples) select.add(new Option(title))
  select.addEventListener('change', () => {
    const example = examples[select.selectedIndex - 1]
    if (example) show(example.document)
  })
  return examples
}

document.getElementById('token-form').addEventListener('submit', (event) => {
  event.preventDefault()
  storeToken(field.value)
  show()
})

scheme.addEventListener('change', () => show())
await shareToken()
field.value = token()
const examples = await loadExamples()
/** The example that the address names: `#example=` and the path of a collection. */
const named = () => {
  const path = new URLSearchParams(location.hash.slice(1)).get('example')
  return examples.find((example) => example.path === path && path !== null)
}
addEventListener('hashchange', () => named() && show(named().document))
show((named() ?? examples[0])?.document)
