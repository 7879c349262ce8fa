import { html, useState } from './htm.js'
import { bodyText, CodeBlock, curlOf } from './request-view.js'
import { Formatted, Lazy, referred, SchemaView, typeOf } from './schema-view.js'
import { answerIn, request } from './session.js'

/**
 * An operation of the OpenAPI document, and a form that sends it.
 *
 * @param {{ entry: import('./reference.js').Entry, description: any, isOpen: boolean }} properties
 */
export function OperationView({ entry, description, isOpen }) {
  const { method, path, operation } = entry
  const id = operation.operationId
  const title = html`<h3><span class="method">${method}</span> <code>${path}</code></h3> <span>${operation.summary}</span>`
  const content = () => html`<div class="operation">
    <p><${Formatted} text=${operation.description.slice(operation.summary.length + 2)} /> <a href=${`#${id}`}><code>${id}</code></a></p>
    <${RequestForm} entry=${entry} description=${description} />
    <${Responses} responses=${operation.responses} description=${description} />
  </div>`
  return html`<${Lazy} id=${id} title=${title} isOpen=${isOpen} content=${content} />`
}

/** @param {{ entry: import('./reference.js').Entry, description: any }} properties */
function RequestForm({ entry, description }) {
  const { operation, parameters } = entry
  const [sent, setSent] = useState(/** @type {any} */ (undefined))
  const [[type, media] = []] = Object.entries(operation.requestBody?.content ?? {})
  const submit = async (/** @type {any} */ event) => {
    event.preventDefault()
    const asked = requestOf(entry, type, new FormData(event.target))
    setSent({ ...asked, answer: await answerTo(asked) })
  }
  const isHeader = (/** @type {any} */ parameter) => parameter.in === 'header'
  const shown = parameters.filter((parameter) => !isHeader(parameter))
  const headers = parameters.filter(isHeader)
  const fieldsOf = (/** @type {any[]} */ some) =>
    some.map(
      (parameter) =>
        html`<${ParameterField} key=${parameter.name} ...${{ parameter, operationId: operation.operationId }} />`,
    )
  const schema = () => html`<${SchemaView} schema=${media.schema} description=${description} />`
  return html`<form onSubmit=${submit}>
    ${fieldsOf(shown.filter((one) => one.required))} ${fieldsOf(shown.filter((one) => !one.required))}
    ${headers.length > 0 && html`<${Lazy} title=${`Headers (${headers.length})`} content=${() => fieldsOf(headers)} />`}
    ${
      media &&
      html`<label>Body <span class="note">${type}</span>
        <textarea name="body" rows="10" spellcheck=${false}>${JSON.stringify(media.example, null, 2)}</textarea></label>
      <${Lazy} title="Fields of the body" content=${schema} />`
    }
    <button type="submit">Send</button>
    <div role="status">${sent && html`<${Result} ...${sent} />`}</div>
  </form>`
}

/** @param {{ parameter: any, operationId: string }} properties */
function ParameterField({ parameter, operationId }) {
  const { name, description, required = false, schema, example } = parameter
  const isRepeated = isList(parameter)
  const id = `${operationId}-${name}`
  const value = Array.isArray(example) ? example.join('\n') : typeof example === 'string' ? example : ''
  const field = { name, value, required, 'aria-describedby': id, autocomplete: 'off', spellcheck: false }
  const choices = schema.items?.enum ?? []
  const list = choices.length > 0 ? `${id}-values` : undefined
  const suggestions =
    list &&
    html`<datalist id=${list}>${choices.map((/** @type {string} */ one) => html`<option value=${one} />`)}</datalist>`
  const about = [required && 'Required', isRepeated ? 'one a line' : typeOf(schema)]
    .filter(Boolean)
    .join(', ')
  return html`<div class="field">
    <label><code>${name}</code> ${isRepeated ? html`<textarea rows="2" ...${field} />` : html`<input list=${list} ...${field} />${suggestions}`}</label>
    <div class="note" id=${id}>${about}. <${Formatted} text=${description} /></div>
  </div>`
}

/** Lists whose items are parameters of their own. */
function isList(/** @type {any} */ { explode, schema }) {
  return explode === true && schema.type === 'array'
}

/**
 * The request that the form describes.
 *
 * @param {import('./reference.js').Entry} entry
 * @param {string | undefined} type of the body
 * @param {FormData} form
 */
function requestOf({ method, path, parameters }, type, form) {
  const url = new URL(new URL('../..', import.meta.url).href.slice(0, -1))
  const headers = new Headers(type ? { 'Content-Type': type } : {})
  let address = path
  for (const parameter of parameters) {
    const { name, in: place } = parameter
    const values = String(form.get(name) ?? '')
      .split('\n')
      .map((value) => value.trim())
    for (const value of values.filter((one) => one !== '')) {
      if (place === 'path') address = address.replace(`{${name}}`, encodeURIComponent(value))
      else if (place === 'header') headers.set(name, value)
      else url.searchParams.append(name, value)
    }
  }
  url.pathname = url.pathname.replace(/\/$/, '') + address
  return { method, url: url.href, headers, body: type ? String(form.get('body')) : undefined }
}

/** @param {ReturnType<typeof requestOf>} asked */
async function answerTo({ url, ...options }) {
  try {
    return await answerIn(await request(url, { ...options, cache: 'no-store' }))
  } catch (error) {
    return { failure: String(error) }
  }
}

/** @param {any} sent */
function Result({ answer, ...asked }) {
  const { failure, status, headers } = answer
  if (failure) return html`<p class="error">No response: ${failure}</p>`
  const text = bodyText(answer)
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  return html`<p><span class="status ${status < 400 ? 'good' : 'bad'}">${status}</span></p>
    ${text !== '' && html`<${CodeBlock} title="Response" text=${text} />`}
    <${CodeBlock} title="Response headers" text=${lines} />
    <${CodeBlock} title="curl" text=${curlOf(asked)} />`
}

/** Those of success, and the errors in one part that is closed. @param {{ responses: any, description: any }} properties */
function Responses({ responses, description }) {
  const all = Object.entries(responses).map(([status, one]) => ({
    status,
    response: referred(one, description),
  }))
  const errors = all.filter(({ status }) => !(Number(status) < 400))
  const causes = errors.flatMap(({ response }) => response.description.split('\n\n'))
  const list = () => html`<ul>${causes.map((cause) => html`<li>${cause}</li>`)}</ul>`
  return html`<h4>Responses</h4>
    <ul>
      ${all
        .filter((one) => !errors.includes(one))
        .map(({ status, response }) => {
          const schema = response.content?.['application/json']?.schema
          const members = () => html`<${SchemaView} schema=${schema} description=${description} />`
          return html`<li><strong>${status}</strong> <${Formatted} text=${response.description} />
          ${schema && html`<${Lazy} title="Fields" content=${members} />`}</li>`
        })}
    </ul>
    <${Lazy} title=${`Errors (${causes.length})`} content=${list} />`
}
