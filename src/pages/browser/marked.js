import { messageOf } from './failure.js'
import { TemplateForm } from './form.js'
import { html, useEffect, useRef, useState } from './htm.js'
import { base } from './page.js'
import { passFocus, send } from './session.js'
import { label, titleOf, Value, valueAt } from './values.js'

/**
 * Changes or deletes the marked rows of a list together: all of them, or none.
 *
 * @param {{ items: any[], profile: any, leaves: Map<string, any> }} properties
 */
export function Marked({ items, profile, leaves }) {
  const [key, setKey] = useState('')
  const [rows, setRows] = useState(/** @type {any[]} */ ([]))
  const [problem, setProblem] = useState('')
  const heading = useRef(/** @type {any} */ (null))
  const isDone = rows.some(({ isWritten }) => isWritten)
  useEffect(() => {
    heading.current?.focus()
  }, [key, isDone])
  // A list has no entity tags. What has changed since it was read, nobody has seen.
  const read = async (next = key) => {
    const answers = await Promise.all(items.map((item) => send(item._links.self.href)))
    setRows(answers.map((answer, at) => rowOf(items[at], answer, next, leaves)))
    setProblem('')
    setKey(next)
  }
  const possible = rows.filter(({ refusal }) => !refusal)
  const chosen = possible.filter(({ changes, isAccepted }) => changes.length === 0 || isAccepted)

  /** One batch. Its error is said at the row, and beside the field, that it is about. @param {object} [body] */
  const write = async (body) => {
    const operations = chosen.map(({ item, answer }) => ({
      method: body ? 'PATCH' : 'DELETE',
      path: item._links.self.href.slice(base.length),
      headers: { 'If-Match': answer.headers.get('ETag') },
      body,
    }))
    const headers = { 'Content-Type': 'application/json' }
    const answer = await send(`${base}/batch`, { method: 'POST', headers, body: { operations } })
    const isWritten = answer.status < 400
    const { code, details = [] } = answer.body?.error ?? {}
    const [, at, text = ''] =
      /^(?:operations\[(\d+)\]: )?(.*)$/s.exec(messageOf(answer.status, answer.body)) ?? []
    const resultOf = (/** @type {any} */ row) => {
      if (!isWritten) return row === chosen[Number(at)] ? text : 'Left as it was, like all.'
      return chosen.includes(row) ? (body ? 'Changed.' : 'Deleted.') : 'Left as it was.'
    }
    const isConflict = code === 'CONCURRENT_MODIFICATION'
    if (isConflict) await read()
    else setRows(rows.map((row) => ({ ...row, result: resultOf(row), isWritten })))
    const message = isConflict ? 'Nothing was saved: rows were changed meanwhile.' : text
    setProblem(isWritten ? '' : message)
    const fields = details.map((/** @type {any} */ { field = '', ...one }) => {
      return { ...one, field: field.replace(/^operations\[\d+\]\.?/, '') }
    })
    return { ...answer, body: { error: { message, details: fields } } }
  }
  const accept = (/** @type {any} */ row) =>
    setRows(rows.map((one) => (one === row ? { ...row, isAccepted: !row.isAccepted } : one)))
  const showList = () => {
    passFocus()
    location.reload()
  }
  const template = key === 'patch' && possible[0]?.answer.body._templates.patch
  const count = chosen.length === 1 ? '1 row' : `${chosen.length} rows`
  const owned = profile.policies.delete.also_deletes ?? []
  return html`<section aria-label="Marked rows">
    <div class="actions"><span role="status">${items.length} marked</span>
      <button type="button" onClick=${() => read('patch')}>Change…</button><button type="button" onClick=${() => read('delete')}>Delete…</button>
    </div>
    ${key && html`<ul>${rows.map((row) => html`<${Row} ...${row} accept=${() => accept(row)} name=${titleOf(row.item, profile.name_field)} />`)}</ul>`}
    ${
      template &&
      !isDone &&
      html`<p>Fields that you leave empty stay as they are.</p>
      <${TemplateForm} template=${{ ...template, title: `Change ${count}`, properties: template.properties.flatMap(blank) }}
        profile=${profile} sendBody=${write} onCancel=${() => setKey('')} onDone=${() => {}} />`
    }
    ${
      key === 'delete' &&
      !isDone &&
      html`<div class="template">
      <h2 tabindex="-1" ref=${heading}>Delete ${count}?</h2>
      ${owned.length > 0 && html`<p>This also deletes what belongs to them: ${owned.map(label).join(', ').toLowerCase()}.</p>`}
      <p>Their history remains.</p>
      ${problem && html`<p role="alert" class="error">${problem}</p>`}
      <div class="actions">
        <button type="button" class="danger" disabled=${chosen.length === 0} onClick=${() => write()}>Delete</button>
        <button type="button" onClick=${() => setKey('')}>Cancel</button>
      </div>
    </div>`
    }
    ${isDone && html`<p tabindex="-1" ref=${heading}>${count} ${key === 'delete' ? 'deleted' : 'changed'}. <button type="button" onClick=${showList}>Show the list again</button></p>`}
  </section>`
}

/** A marked row: what became of it, or what has changed. */
function Row(/** @type {any} */ { name, result, refusal, changes, isAccepted, accept }) {
  const text = result ?? refusal
  return html`<li><span dir="auto">${name}</span>${text && `: ${text}`}
    ${!text && changes.length > 0 && html`: changed after the list was shown. ${changes} <label><input type="checkbox" checked=${isAccepted} onChange=${accept} /> Include it all the same</label>`}
  </li>`
}

/** @param {any} item as listed @param {any} answer @param {string} key of the template @param {Map<string, any>} leaves */
function rowOf(item, answer, key, leaves) {
  const { status, body } = answer
  const refusal =
    status >= 400 ? messageOf(status, body) : body._templates?.[key] ? '' : 'You may not do this.'
  const changes = [...leaves].flatMap(([name, schema]) => {
    const [before, now] = [valueAt(item, name), valueAt(body, name)]
    if (name === 'last_updated' || JSON.stringify(before) === JSON.stringify(now)) return []
    return html`${schema.title}: <${Value} ...${{ value: before, schema }} /> → <${Value} ...${{ value: now, schema }} />. `
  })
  return { item, answer, refusal, changes }
}

/** A field of the form, without the value of the row that it is from. The members of an object differ by row. @param {any} property */
function blank({ value, ...property }) {
  return property.format === 'object' || property.format === 'json' ? [] : { ...property, required: false }
}
