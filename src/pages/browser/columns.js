import { html, useState } from './htm.js'
import { fieldLabel } from './values.js'

/** A table with more columns is hard to read. The page of an item shows all fields. */
const MAXIMUM_COLUMNS = 6

/** Where this browser keeps the columns of a collection, for all visits. */
const KEY = `halgraph.columns.${location.pathname.split('/').at(-1)}`

/**
 * The names of the fields that a list shows, in their order, and the function that chooses others; undefined: the usual ones.
 *
 * @param {any} profile
 * @param {Map<string, any>} leaves
 * @param {string[]} first what names an item, where nothing else does
 * @returns {[string[], (columns: string[] | undefined) => void]}
 */
export function useColumns(profile, leaves, first) {
  const [chosen, setChosen] = useState(() => localStorage.getItem(KEY)?.split(','))
  const plain = [...leaves].filter(
    ([name, { type }]) => type !== 'object' && name !== 'id' && !name.includes('.'),
  )
  const guessed = [...new Set([...first, ...plain.map(([name]) => name)])].slice(0, MAXIMUM_COLUMNS)
  // A field may be gone, or need a scope.
  const known = chosen?.filter((name) => leaves.has(name)) ?? []
  const choose = (/** @type {string[] | undefined} */ columns) => {
    if (columns) localStorage.setItem(KEY, columns.join())
    else localStorage.removeItem(KEY)
    setChosen(columns)
  }
  return [known.length > 0 ? known : (profile?.columns ?? guessed), choose]
}

/**
 * The choice of the columns and of their order.
 *
 * @param {{ leaves: Map<string, any>, columns: string[], choose: (columns: string[] | undefined) => void }} properties
 */
export function Columns({ leaves, columns, choose }) {
  const others = [...leaves.keys()].filter((name) => !columns.includes(name))
  const toggle = (/** @type {string} */ name) =>
    choose(columns.includes(name) ? columns.filter((one) => one !== name) : [...columns, name])
  const advance = (/** @type {number} */ at) =>
    choose(columns.toSpliced(at - 1, 2, columns[at] ?? '', columns[at - 1] ?? ''))
  return html`<details class="filters">
    <summary>Columns</summary>
    <ol class="columns">${[...columns, ...others].map((name, at) => {
      const text = fieldLabel(name, leaves.get(name))
      return html`<li key=${name}>
        <label><input type="checkbox" checked=${at < columns.length} onChange=${() => toggle(name)} /> ${text}</label>
        ${at > 0 && at < columns.length && html`<button type="button" class="quiet" aria-label=${`Move ${text} to the left`} onClick=${() => advance(at)}>←</button>`}
      </li>`
    })}</ol>
    <button type="button" class="quiet" onClick=${() => choose(undefined)}>Usual columns</button>
  </details>`
}
