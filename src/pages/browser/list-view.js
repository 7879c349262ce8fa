import { ActiveFilters, addressWith, Filters, Search } from './filters.js'
import { TemplateForm } from './form.js'
import { html, useState } from './htm.js'
import { useListedNames } from './names.js'
import { provider, seed } from './page.js'
import { passFocus, token } from './session.js'
import {
  beginningOf,
  fieldLabel,
  isNumeric,
  isWeb,
  itemsOf,
  leavesOf,
  textOf,
  titleOf,
  Value,
  valueAt,
} from './values.js'

/** A table with more columns is hard to read. The page of an item shows all fields. */
const MAXIMUM_COLUMNS = 6
const PAGING = ['first', 'prev', 'next', 'last']
const PAGE_SIZES = [20, 50, 100]
/** Whether lists of this tab show identifiers. */
const IDENTIFIERS = 'halgraph.identifiers'

/**
 * A list as a table, with filters, sorts and a form for a new item.
 *
 * @param {{ body: any, profile: any }} properties
 */
export function ListView({ body, profile }) {
  const [isCreating, setCreating] = useState(false)
  const template = body._templates?.default
  const items = itemsOf(body) ?? []
  const create = () => setCreating(true)
  return html`
    ${profile && html`<p class="note">${profile.description}</p>`}
    <div class="actions">
      ${template && html`<button type="button" class=${isCreating ? '' : 'main'} onClick=${create}>${template.title}</button>`}
      <${Search} profile=${profile} />
    </div>
    ${
      isCreating &&
      html`<${TemplateForm} template=${template} profile=${profile}
      onCancel=${() => setCreating(false)} onDone=${open} />`
    }
    <details class="filters">
      <summary>Add a filter</summary>
      <${Filters} profile=${profile} />
    </details>
    <${ActiveFilters} profile=${profile} />
    ${items.length === 0 ? !isCreating && html`<${Empty} ...${{ template, create }} />` : html`<${Table} ...${{ items, profile }} />`}
    <${Paging} body=${body} maximum=${profile?.policies.paging?.maximum_limit ?? 0} />`
}

/** @param {import('./session.js').Answer} answer */
function open({ headers }) {
  const location_ = headers.get('Location')
  passFocus()
  if (location_ && isWeb(location_)) location.assign(location_)
  else location.reload()
}

/** @param {{ items: any[], profile: any }} properties */
function Table({ items, profile }) {
  const [hasIdentifiers, setIdentifiers] = useState(sessionStorage.getItem(IDENTIFIERS) === 'true')
  const leaves = new Map(leavesOf(profile?.schema))
  const title = profile?.name_field ?? 'id'
  const nameOf = useListedNames(profile?.references ?? {})
  const isTitled = items.some((item) => item._links.self.title !== undefined)
  const declared = /** @type {string[]} */ (
    profile?.columns ?? guessedColumns(leaves, isTitled ? [] : [title])
  )
  const columns = [...new Set([...declared, ...(hasIdentifiers ? ['id'] : [])])]
  const sortable = new Set(profile?.policies.paging?.sort ?? [])
  const head = (/** @type {any} */ item, /** @type {string} */ text) =>
    html`<th scope="row"><a href=${item._links.self.href} dir="auto">${beginningOf(text)}</a></th>`
  const cell = (/** @type {any} */ item, /** @type {string} */ name, /** @type {boolean} */ isHead) => {
    const [value, schema] = [valueAt(item, name), leaves.get(name)]
    const named = nameOf(name, value)
    if (isHead) return head(item, named?.name ?? (value === undefined ? item.id : textOf(value, schema)))
    return html`<td class=${isNumeric(schema) ? 'number' : undefined}><${Value} ...${{ value, schema, isCut: true }} ...${named} /></td>`
  }
  const toggle = () => {
    sessionStorage.setItem(IDENTIFIERS, String(!hasIdentifiers))
    setIdentifiers(!hasIdentifiers)
  }
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Items">
    <table class="list">
      <thead><tr>
        ${isTitled && html`<th scope="col">${profile.title}</th>`}
        ${columns.map((name) => html`<${ColumnHead} ...${{ name, schema: leaves.get(name), isSortable: sortable.has(name) }} />`)}
      </tr></thead>
      <tbody>
        ${items.map(
          (item) => html`<tr>
          ${isTitled && head(item, titleOf(item, title))}
          ${columns.map((name, index) => cell(item, name, index === 0 && !isTitled))}
        </tr>`,
        )}
      </tbody>
    </table>
  </div>
  ${!declared.includes('id') && html`<button type="button" class="quiet" aria-pressed=${String(hasIdentifiers)} onClick=${toggle}>Show identifiers</button>`}`
}

/** The name, if there is one, and further fields in the order of the definition, without members of objects. */
function guessedColumns(/** @type {Map<string, any>} */ leaves, /** @type {string[]} */ first) {
  const plain = [...leaves].filter(
    ([name, { type }]) => type !== 'object' && name !== 'id' && !name.includes('.'),
  )
  return [...new Set([...first, ...plain.map(([name]) => name)])].slice(0, MAXIMUM_COLUMNS)
}

/** @param {{ name: string, schema: any, isSortable: boolean }} properties */
function ColumnHead({ name, schema, isSortable }) {
  const current = new URLSearchParams(location.search).get('sort')
  const direction =
    current === `${name}:asc` ? 'ascending' : current === `${name}:desc` ? 'descending' : undefined
  const next = direction === 'ascending' ? 'desc' : 'asc'
  const sign = direction === 'ascending' ? ' ▲' : direction === 'descending' ? ' ▼' : ''
  const text = html`${fieldLabel(name, schema)}<span aria-hidden="true">${sign}</span>`
  return html`<th scope="col" aria-sort=${direction} title=${schema?.description} class=${isNumeric(schema) ? 'number' : undefined}>
    ${isSortable ? html`<a href=${addressWith((parameters) => parameters.set('sort', `${name}:${next}`))}>${text}</a>` : text}
  </th>`
}

const CREATING = provider ? 'Sign in to create something.' : 'Creating needs an access token.'

/** What to do next where a list has no items. @param {{ template: any, create: () => void }} properties */
function Empty({ template, create }) {
  const isFiltered = ['filter', 'q', 'id'].some((name) => new URLSearchParams(location.search).has(name))
  if (isFiltered)
    return html`<p class="empty">Nothing matches the filters. <a href=${location.pathname}>Show all</a></p>`
  if (!template)
    return html`<p class="empty">There is nothing here yet. ${token() === '' ? CREATING : `Your ${provider ? 'account' : 'token'} does not permit creating anything here.`}</p>`
  return html`<div class="empty">
    <p>There is nothing here yet.</p>
    <button type="button" class="main" onClick=${create}>${template.title.replace(/^Create( an?)?/, 'Create the first')}</button>
    ${seed && html`<p class="note">Or add the example catalogue: <code>${seed}</code></p>`}
  </div>`
}

/** @param {{ body: any, maximum: number }} properties */
function Paging({ body, maximum }) {
  const { _links: links, page, limit, total_pages: pages, total_count: count } = body
  const sizes = [...new Set([...PAGE_SIZES, limit])]
    .filter((size) => size <= maximum)
    .sort((one, other) => one - other)
  return html`<nav class="paging" aria-label="Pages">
    <p>Page ${textOf(page)} of ${textOf(Math.max(pages, 1))}, ${count === 1 ? '1 item' : `${textOf(count)} items`}</p>
    <ul>${PAGING.map(
      (relation) => html`<li>
      ${
        links[relation]
          ? html`<a href=${links[relation].href} rel=${relation}>${relation}</a>`
          : html`<span class="absent">${relation}</span>`
      }
    </li>`,
    )}</ul>
    <p class="sizes">Items on a page: ${sizes.map(
      (size) =>
        html`<a href=${addressWith((all) => all.set('limit', String(size)))} aria-current=${size === limit ? 'true' : undefined}>${size}</a> `,
    )}</p>
  </nav>`
}
