import { TemplateForm } from './form.js'
import { html, useState } from './htm.js'
import { useNames } from './names.js'
import { passFocus, token } from './session.js'
import { fieldLabel, isWeb, itemsOf, leavesOf, titleOf, Value, valueAt } from './values.js'

/** A table with more columns is hard to read. The page of an item shows all fields. */
const MAXIMUM_COLUMNS = 6
/** On a phone, the filters are folded away. */
const isWide = matchMedia('(min-width: 40rem)').matches
const PAGING = ['first', 'prev', 'next', 'last']

/**
 * A list as a table, with filters, sorts and a form for a new item.
 *
 * @param {{ body: any, profile: any }} properties
 */
export function ListView({ body, profile }) {
  const [isCreating, setCreating] = useState(false)
  const template = body._templates?.default
  const items = itemsOf(body) ?? []
  return html`
    ${profile && html`<p class="note">${profile.description}</p>`}
    <div class="actions">
      ${template && html`<button type="button" class=${isCreating ? '' : 'main'} onClick=${() => setCreating(true)}>${template.title}</button>`}
    </div>
    ${
      isCreating &&
      html`<${TemplateForm} template=${template} profile=${profile}
      onCancel=${() => setCreating(false)} onDone=${open} />`
    }
    <details class="filters" open=${isWide}>
      <summary>Search and filter</summary>
      <${Search} profile=${profile} />
      <${Filters} profile=${profile} />
    </details>
    <${ActiveFilters} profile=${profile} />
    ${items.length === 0 ? html`<${Empty} template=${template} />` : html`<${Table} ...${{ items, profile }} />`}
    <${Paging} body=${body} />`
}

/** @param {import('./session.js').Answer} answer */
function open({ headers }) {
  const location_ = headers.get('Location')
  passFocus()
  if (location_ && isWeb(location_)) location.assign(location_)
  else location.reload()
}

/** The URL of the first page of this list with other parameters. */
function addressWith(/** @type {(parameters: URLSearchParams) => void} */ change) {
  const parameters = new URLSearchParams(location.search)
  for (const name of ['page', 'cursor']) parameters.delete(name)
  change(parameters)
  const query = parameters.toString()
  return location.pathname + (query === '' ? '' : `?${query}`)
}

/** @param {{ items: any[], profile: any }} properties */
function Table({ items, profile }) {
  const leaves = new Map(leavesOf(profile?.schema))
  const title = profile?.name_field ?? 'id'
  const nameOf = useNames(profile?.references ?? {}, (name) => items.map((item) => valueAt(item, name)))
  const others = [...leaves].filter(
    ([name, { type }]) => type !== 'object' && name !== title && name !== 'id',
  )
  const plain = others.filter(([name]) => !name.includes('.')).map(([name]) => name)
  const isTitled = items.some((item) => item._links.self.title !== undefined)
  const guess = [...new Set(isTitled ? plain : [title, 'id', ...plain])].slice(0, MAXIMUM_COLUMNS)
  const columns = /** @type {string[]} */ (profile?.columns ?? guess)
  const sortable = new Set(profile?.policies.paging?.sort ?? [])
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Items">
    <table>
      <thead><tr>
        ${isTitled && html`<th scope="col">${profile.title}</th>`}
        ${columns.map((name) => html`<${ColumnHead} ...${{ name, schema: leaves.get(name), isSortable: sortable.has(name) }} />`)}
      </tr></thead>
      <tbody>
        ${items.map(
          (item) => html`<tr>
          ${isTitled && html`<th scope="row"><a href=${item._links.self.href}>${titleOf(item, title)}</a></th>`}
          ${columns.map((name, index) =>
            index === 0 && !isTitled
              ? html`<th scope="row"><a href=${item._links.self.href}>${String(valueAt(item, name) ?? item.id)}</a></th>`
              : html`<td><${Value} value=${valueAt(item, name)} schema=${leaves.get(name)} ...${nameOf(name, valueAt(item, name))} /></td>`,
          )}
        </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

/** @param {{ name: string, schema: any, isSortable: boolean }} properties */
function ColumnHead({ name, schema, isSortable }) {
  const current = new URLSearchParams(location.search).get('sort')
  const direction =
    current === `${name}:asc` ? 'ascending' : current === `${name}:desc` ? 'descending' : undefined
  const next = direction === 'ascending' ? 'desc' : 'asc'
  const sign = direction === 'ascending' ? ' ▲' : direction === 'descending' ? ' ▼' : ''
  const text = html`${fieldLabel(name, schema)}<span aria-hidden="true">${sign}</span>`
  return html`<th scope="col" aria-sort=${direction} title=${schema?.description}>
    ${isSortable ? html`<a href=${addressWith((parameters) => parameters.set('sort', `${name}:${next}`))}>${text}</a>` : text}
  </th>`
}

/** @param {{ profile: any }} properties */
function Search({ profile }) {
  if (!profile?.policies.paging?.search.length) return null
  const search = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    const words = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get('q'))
    location.assign(addressWith((all) => (words.trim() ? all.set('q', words) : all.delete('q'))))
  }
  return html`<form class="filter" role="search" onSubmit=${search}>
    <label>Words <input name="q" type="search" maxlength="200" autocomplete="off"
      defaultValue=${new URLSearchParams(location.search).get('q')} /></label>
    <button type="submit" class="quiet">Search</button>
  </form>`
}

/** @type {[string, string][]} */
const EQUALITIES = [
  ['', 'is'],
  ['ne', 'is not'],
]
/** Its value is a choice for any kind of field. @type {[string, string]} */
const IS_SET = ['set', 'is set']
/** @type {[string, string][]} */
const NUMBER_OPERATORS = [
  ...EQUALITIES,
  ['gte', 'at least'],
  ['gt', 'more than'],
  ['lte', 'at most'],
  ['lt', 'less than'],
  IS_SET,
]
/** @type {[string, string][]} */
const TEXT_OPERATORS = [['icontains', 'contains'], ['prefix', 'begins with'], ...EQUALITIES, IS_SET]
/** @type {[string, string][]} */
const MORE_OPERATORS = [
  ['contains', 'contains'],
  ['in', 'is one of'],
]
/** @type {[string, string][]} */
const LIST_OPERATORS = [['contains', 'contains'], IS_SET]
/** @type {[string, string][]} */
const CHOICE_OPERATORS = [...EQUALITIES, IS_SET]

/** Of texts with an order. */
const ORDERED_FORMATS = ['date-time', 'date', 'decimal']

/** @param {any} schema */
function operatorsOf({ type, format, enum: values } = /** @type {any} */ ({})) {
  if (type === 'number' || type === 'integer' || ORDERED_FORMATS.includes(format)) return NUMBER_OPERATORS
  if (type === 'array') return LIST_OPERATORS
  return type === 'boolean' || values ? CHOICE_OPERATORS : TEXT_OPERATORS
}

/** @param {{ profile: any }} properties */
function Filters({ profile }) {
  const names = /** @type {string[]} */ (profile?.policies.paging?.filter ?? [])
  const schemas = new Map(leavesOf(profile?.schema))
  const [name, setName] = useState(names.find((one) => one === profile.name_field) ?? '')
  const [isSetAsked, askIsSet] = useState(false)
  if (names.length === 0) return null
  const schema = schemas.get(name) ?? {}
  const add = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    const data = new FormData(/** @type {HTMLFormElement} */ (event.target))
    const operator = data.get('operator')
    const filter = `${name}${operator ? `[${operator}]` : ''}:${data.get('value')}`
    location.assign(addressWith((parameters) => parameters.append('filter', filter)))
  }
  const select = (/** @type {string} */ field) => {
    setName(field)
    askIsSet(false)
  }
  const isYesNo = isSetAsked || schema.type === 'boolean'
  const choices = isYesNo ? ['true', 'false'] : schema.enum
  const value = choices
    ? html`<select name="value">${choices.map((/** @type {string} */ one) => html`<option value=${one}>${schema['x-labels']?.[one] ?? one}</option>`)}</select>`
    : html`<input name="value" required autocomplete="off" placeholder=${schema.format === 'date-time' ? '2031-04-05' : undefined} />`
  return html`<form class="filter" onSubmit=${add}>
      <label>Field <select value=${name} onChange=${(/** @type {any} */ event) => select(event.target.value)}>
        ${names.map((one) => html`<option value=${one}>${fieldLabel(one, schemas.get(one))}</option>`)}
      </select></label>
      <label>Condition <select name="operator" key=${name}
        onChange=${(/** @type {any} */ event) => askIsSet(event.target.value === 'set')}>
        ${operatorsOf(schema).map(([operator, text]) => html`<option value=${operator}>${text}</option>`)}
      </select></label>
      <label>Value ${value}</label>
      <button type="submit" class="quiet">Filter</button>
    </form>`
}

/** The text of a condition: `Distance (parsecs) at least 5`. */
function conditionText(/** @type {string} */ filter, /** @type {Map<string, any>} */ schemas) {
  const [, name = '', operator = '', value] = /^([\w.]+)(?:\[(\w+)\])?:(.*)$/s.exec(filter) ?? []
  const texts = new Map([...NUMBER_OPERATORS, ...TEXT_OPERATORS, ...MORE_OPERATORS])
  if (operator === 'set' && schemas.has(name))
    return `${fieldLabel(name, schemas.get(name))} ${value === 'true' ? 'is set' : 'is not set'}`
  return schemas.has(name) && texts.has(operator)
    ? `${fieldLabel(name, schemas.get(name))} ${texts.get(operator)} ${value}`
    : filter
}

/** @param {{ profile: any }} properties */
function ActiveFilters({ profile }) {
  const schemas = new Map(leavesOf(profile?.schema))
  const parameters = [...new URLSearchParams(location.search)]
  const active = parameters.filter(([name]) => !['page', 'limit', 'sort', 'cursor'].includes(name))
  if (active.length === 0) return null
  return html`<ul class="active" aria-label="Filters">
    ${active.map(
      ([name, value]) => html`<li>
      ${conditionText(name === 'filter' ? value : `${name}:${value}`, schemas)}${' '}
      <a href=${addressWith((all) => all.delete(name, value))} aria-label=${`Remove the filter ${value}`}>✕</a>
    </li>`,
    )}
  </ul>`
}

/** @param {{ template: any }} properties */
function Empty({ template }) {
  const isFiltered = ['filter', 'q', 'id'].some((name) => new URLSearchParams(location.search).has(name))
  if (isFiltered)
    return html`<p class="empty">Nothing matches the filters. <a href=${location.pathname}>Show all</a></p>`
  return html`<p class="empty">There is nothing here yet.
    ${template ? ' Create the first one above.' : ` ${token() === '' ? 'Creating needs an access token.' : 'Your token does not permit creating anything here.'}`}</p>`
}

/** @param {{ body: any }} properties */
function Paging({ body: { _links: links, page, total_pages: pages, total_count: count } }) {
  return html`<nav class="paging" aria-label="Pages">
    <p>Page ${page} of ${Math.max(pages, 1)}, ${count === 1 ? '1 item' : `${count} items`}</p>
    <ul>${PAGING.map(
      (relation) => html`<li>
      ${
        links[relation]
          ? html`<a href=${links[relation].href} rel=${relation}>${relation}</a>`
          : html`<span class="absent">${relation}</span>`
      }
    </li>`,
    )}</ul>
  </nav>`
}
