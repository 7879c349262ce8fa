import { html, useState } from './htm.js'
import { token } from './session.js'

/**
 * The path and the status, the JSON of the response, the request as a curl command, and the GraphQL operation.
 *
 * @param {{ url: string, path: string, answer: import('./session.js').Answer }} properties
 */
export function RequestView({ url, path, answer: { status, body, text, headers } }) {
  const operation = JSON.parse(headers.get('GraphQL-Operation') ?? 'null')
  const json = bodyText({ body, text })
  const graphql =
    operation && `${operation.query}\n\n# variables\n${JSON.stringify(operation.variables, null, 2)}`
  return html`<details class="request">
    <summary>The request and its response</summary>
    <p class="path">${path} <span class="status ${status < 400 ? 'good' : 'bad'}">${status}</span></p>
    <${CodeBlock} title="JSON" text=${json} />
    <${CodeBlock} title="curl" text=${curlOf({ url })} />
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

/** The body of a response, indented if it is JSON. @param {{ body?: any, text: string }} answer */
export function bodyText({ body, text }) {
  return body === undefined ? text : JSON.stringify(body, null, 2)
}

/**
 * The command that sends a request with the token of this session, which it reads from a variable.
 *
 * @param {{ url: string, method?: string, headers?: Iterable<[string, string]>, body?: string | undefined }} request
 */
export function curlOf({ url, method = 'GET', headers = [], body }) {
  return [
    'curl',
    ...(method === 'GET' ? [] : ['-X', method]),
    ...(token() === '' ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...[...headers].map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    quoted(url),
    ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
  ].join(' ')
}

/** @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`
}
