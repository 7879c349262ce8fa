import { messageOf } from './failure.js'
import { addressWith } from './filters.js'
import { html, useState } from './htm.js'
import { send } from './session.js'
import { fieldLabel, itemsOf, textOf, titleOf, valueAt } from './values.js'

/**
 * Saves what a list shows as a file: the items of all its pages, with its filters, order and columns.
 *
 * @param {{ columns: string[], leaves: Map<string, any>, references: Record<string, any>, maximum: number }} properties
 *   references: those of the columns that are shown by their names
 */
export function Download({ columns, leaves, references, maximum }) {
  const [progress, setProgress] = useState('')
  const nameIn = (/** @type {any} */ item, /** @type {string} */ name) => {
    const { relation, name_field: field } = references[name] ?? {}
    const target = item._embedded?.[relation]
    return target ? titleOf(target, field) : valueAt(item, name)
  }
  const all = ['id', ...columns.filter((name) => name !== 'id')]
  const formats = {
    CSV: {
      // Spreadsheets take the text for UTF-8 only with this mark.
      head: `\ufeff${all.map((name) => cellOf(fieldLabel(name, leaves.get(name)))).join()}\r\n`,
      line: (/** @type {any} */ item) => `${all.map((name) => cellOf(nameIn(item, name))).join()}\r\n`,
    },
    NDJSON: {
      head: '',
      line: (/** @type {any} */ { _links, _embedded, ...item }) => `${JSON.stringify(item)}\n`,
    },
  }
  const save = async (/** @type {'CSV' | 'NDJSON'} */ format) => {
    const { head: first, line } = formats[format]
    const lines = [first]
    const embed = Object.values(references).map(({ relation }) => relation)
    let next = addressWith((parameters) => {
      parameters.set('limit', String(maximum))
      parameters.set('fields', all.join())
      if (embed.length > 0) parameters.set('embed', embed.join())
    })
    while (next) {
      const { status, body } = await send(next, { headers: { Accept: 'application/json' } })
      if (status >= 400) return setProgress(`Nothing was saved. ${messageOf(status, body)}`)
      lines.push(...(itemsOf(body) ?? []).map(line))
      setProgress(`${textOf(lines.length - 1)} of ${textOf(body.total_count)} items`)
      next = body._links.next?.href
    }
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob(lines))
    link.download = `${location.pathname.split('/').at(-1)}.${format.toLowerCase()}`
    link.click()
    URL.revokeObjectURL(link.href)
  }
  return html`<p class="download">Save all pages as
    ${Object.keys(formats).map((format) => html` <button type="button" class="quiet" onClick=${() => save(/** @type {'CSV'} */ (format))}>${format}</button>`)}
    <span class="note" role="status"> ${progress}</span>
  </p>`
}

/** A value in CSV. Spreadsheets would execute a text that begins like a formula. @param {any} value */
function cellOf(value) {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'object' ? textOf(value) : String(value)
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
