import { ActiveFilters, addressWith, Filters, Search } from './filters.js'
import { TemplateForm } from './form.js'
import { html, useState } from './htm.js'
import { Table } from './list-table.js'
import { provider, seed } from './page.js'
import { passFocus, token } from './session.js'
import { isWeb, itemsOf, textOf } from './values.js'

const PAGING = ['first', 'prev', 'next', 'last']
const PAGE_SIZES = [20, 50, 100]

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
    ${items.length === 0 ? !isCreating && html`<${Empty} ...${{ template, create }} />` : html`<${Table} ...${{ items, profile, canMark: Boolean(template && profile?.patch && !isCreating) }} />`}
    <${Paging} body=${body} maximum=${profile?.policies.paging?.maximum_limit ?? 0} />`
}

/** @param {import('./session.js').Answer} answer */
function open({ headers }) {
  const location_ = headers.get('Location')
  passFocus()
  if (location_ && isWeb(location_)) location.assign(location_)
  else location.reload()
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
