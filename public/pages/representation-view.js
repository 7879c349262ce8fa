import { anchor, element } from './elements.js'

/** Relations with the address of the resource itself, which stand for a method instead of a destination. */
const ACTIONS = new Map([
  ['edit', 'PUT or PATCH to this address'],
  ['delete', 'DELETE to this address'],
])

const PAGING = ['first', 'prev', 'next', 'last']

/** A table with more columns is hard to read; the page of the item shows all fields. */
const MAXIMUM_COLUMNS = 6

/**
 * Shows a representation: a list, the entry document, or one resource.
 *
 * @param {any} body
 * @returns {HTMLElement[]}
 */
export function representationView(body) {
  const links = body._links ?? {}
  if (body._embedded) return [paging(body), ...listed(body), ...findForms(links), relations(links, PAGING)]
  const { _links, ...fields } = body
  return [...(Object.keys(fields).length > 0 ? [fieldList(fields)] : []), relations(links, [])]
}

/** @param {any} body */
function paging({ _links: links, page, total_pages: pages, total_count: count }) {
  const items = PAGING.map((relation) => {
    const link = links[relation]
    return element(
      'li',
      {},
      link ? anchor(link.href, relation, relation) : element('span', { class: 'absent' }, relation),
    )
  })
  const text = count === 1 ? '1 item' : `${count} items`
  return element(
    'nav',
    { class: 'paging', 'aria-label': 'Pages' },
    element('p', {}, `Page ${page} of ${Math.max(pages, 1)}, ${text}`),
    element('ul', {}, ...items),
  )
}

/** @param {any} body */
function listed({ _embedded: embedded }) {
  return Object.entries(embedded).map(([name, items]) => {
    if (items.length === 0) return element('p', {}, 'No items.')
    const columns = columnsOf(items)
    const head = columns.map((column) => element('th', { scope: 'col' }, column))
    const rows = items.map((/** @type {any} */ item) => row(item, columns))
    return element(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': name },
      element('table', {}, element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...rows)),
    )
  })
}

/**
 * The identifier and the first scalar fields.
 *
 * @param {any[]} items
 */
function columnsOf(items) {
  const names = new Set(items.flatMap((item) => Object.keys(item)))
  names.delete('_links')
  const plain = [...names].filter((name) => items.every((item) => typeof item[name] !== 'object'))
  return ['id', ...plain.filter((name) => name !== 'id')].slice(0, MAXIMUM_COLUMNS)
}

/**
 * @param {any} item
 * @param {string[]} columns
 */
function row(item, columns) {
  const [first, ...others] = columns.map((column) => valueText(item[column]))
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, anchor(item._links.self.href, first ?? '')),
    ...others.map((text) => element('td', {}, text)),
  )
}

/**
 * @param {Record<string, unknown>} fields
 * @returns {HTMLElement}
 */
function fieldList(fields) {
  const entries = Object.entries(fields).map(([name, value]) => {
    const isGroup = typeof value === 'object' && value !== null
    const shown = isGroup ? fieldList(/** @type {any} */ (value)) : valueText(value)
    return element('div', {}, element('dt', {}, name), element('dd', {}, shown))
  })
  return element('dl', {}, ...entries)
}

/** @param {unknown} value */
function valueText(value) {
  return value === undefined || value === null ? '' : String(value)
}

/**
 * A form for each templated link, with a field for each variable (RFC 6570 §3.2.8).
 *
 * @param {Record<string, any>} links
 */
function findForms(links) {
  return Object.entries(links)
    .filter(([, link]) => link?.templated)
    .map(([relation, { href }]) => {
      const [address, variables = ''] = href.replace('}', '').split('{?')
      const inputs = variables.split(',').map((/** @type {string} */ name) => {
        const input = element('input', { name, type: 'text', autocomplete: 'off', required: true })
        return element('label', {}, `${name} `, input)
      })
      const button = element('button', { type: 'submit' }, relation)
      return element('form', { action: address, method: 'get', class: 'find' }, ...inputs, button)
    })
}

/**
 * @param {Record<string, any>} links
 * @param {string[]} hidden
 */
function relations(links, hidden) {
  const shown = Object.entries(links).filter(
    ([name, link]) => link && !link.templated && !hidden.includes(name),
  )
  const items = shown.map(([relation, { href, title }]) => {
    const action = ACTIONS.get(relation)
    const target = action ? element('span', {}, action) : anchor(href, href, relation)
    const note = title ? element('span', { class: 'note' }, title) : undefined
    return element('div', {}, element('dt', {}, relation), element('dd', {}, target, note))
  })
  return element('section', { class: 'links' }, element('h2', {}, 'Links'), element('dl', {}, ...items))
}
