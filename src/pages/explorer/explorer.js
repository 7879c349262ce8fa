// The explorer: GraphiQL with example operations.

import { blocksOf, request, shareToken } from '../../docs/assets/session.js'
import { askForToken } from '../../docs/assets/session-control.js'
import { createElement, createRoot, GraphiQL } from './graphiql.js'

const scheme = matchMedia('(prefers-color-scheme: dark)')
const root = createRoot(document.getElementById('explorer'))
let shown = 0

/** The result of an operation, or those of a subscription as they come. */
async function send(parameters, { headers = {} } = {}) {
  const accept = 'application/json, text/event-stream;q=0.5'
  const response = await request(new URL('../../graphql', import.meta.url), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: accept, ...headers },
    body: JSON.stringify(parameters),
  })
  if (response.status === 401) askForToken()
  const isStream = response.headers.get('Content-Type').startsWith('text/event-stream')
  return isStream ? resultsOf(response.body) : response.json()
}

async function* resultsOf(body) {
  for await (const block of blocksOf(body)) {
    const [, result] = /^event: next\ndata: (.*)$/.exec(block) ?? []
    if (result !== undefined) yield JSON.parse(result)
  }
}

/** Renders a new GraphiQL, which fetches the schema with the current token. */
function show(query) {
  shown += 1
  root.render(
    createElement(GraphiQL, {
      key: shown,
      fetcher: send,
      // In this tab only, as the token.
      storage: sessionStorage,
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

scheme.addEventListener('change', () => show())
await shareToken()
const examples = await loadExamples()
/** The example that the address names: `#example=` and the path of a collection. */
const named = () => {
  const path = new URLSearchParams(location.hash.slice(1)).get('example')
  return examples.find((example) => example.path === path && path !== null)
}
addEventListener('hashchange', () => named() && show(named().document))
show((named() ?? examples[0])?.document)
