import { html, useState } from './htm.js'
import { token } from './session.js'

/**
 * The JSON of the response, the request as a curl command, and the GraphQL operation.
 *
 * @param {{ url: string, answer: import('./session.js').Answer }} properties
 */
export function RequestView({ url, answer: { body, text, headers } }) {
  const operation = JSON.parse(headers.get('GraphQL-Operation') ?? 'null')
  const json = body === undefined ? text : JSON.stringify(body, null, 2)
  const graphql =
    operation && `${operation.query}\n\n# variables\n${JSON.stringify(operation.variables, null, 2)}`
  const authorization = token() === '' ? '' : '-H "Authorization: Bearer $TOKEN" '
  return html`<details class="request">
    <summary>The request and its response</summary>
    <${CodeBlock} title="JSON" text=${json} />
    <${CodeBlock} title="curl" text=${`curl ${authorization}${quoted(url)}`} />
    ${graphql && html`<${CodeBlock} title="GraphQL" text=${graphql} />`}
  </details>`
}

/** @param {{ title: string, text: string }} properties */
export function CodeBlock({ title, text }) {
  const [note, setNote] = useState('')
  const copy = async () => setNote((await copied(text)) ? 'Copied' : 'Not copied: select the text instead')
  return html`<section class="code">
    <div class="heading">
      <h2>${title}</h2>
      <span role="status" class="note">${note}</span>
      <button type="button" class="quiet" onClick=${copy}>Copy</button>
    </div>
    <pre tabindex="0" aria-label=${title}><code>${text}</code></pre>
  </section>`
}

/**
 * On plain http, browsers give scripts no clipboard, but the older command may still work.
 *
 * @param {string} text
 * @returns {Promise<boolean>} whether the text is on the clipboard
 */
async function copied(text) {
  if (navigator.clipboard)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  return isCopied
}

/** @param {string} text */
export function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`
}
