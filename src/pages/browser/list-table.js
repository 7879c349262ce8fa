import { Columns, useColumns } from './columns.js'
import { Download } from './download.js'
import { addressWith } from './filters.js'
import { html, useState } from './htm.js'
import { Marked } from './marked.js'
import { useListedNames } from './names.js'
import { beginningOf, fieldLabel, isNumeric, leavesOf, textOf, titleOf, Value, valueAt } from './values.js'

/**
 * The items of a list in rows, and what is done with all of them.
 *
 * @param {{ items: any[], profile: any, canMark: boolean }} properties
 */
export function Table({ items, profile, canMark }) {
  const [marked, setMarked] = useState(/** @type {any[]} */ ([]))
  const leaves = new Map(leavesOf(profile?.schema))
  const references = profile?.references ?? {}
  const title = profile?.name_field ?? 'id'
  const nameOf = useListedNames(references)
  const isTitled = items.some((item) => item._links.self.title !== undefined)
  const [columns, choose] = useColumns(profile, leaves, isTitled ? [] : [title])
  const { sort = [], maximum_limit: maximum } = profile?.policies.paging ?? {}
  const head = (/** @type {any} */ item, /** @type {string} */ text) =>
    html`<th scope="row"><a href=${item._links.self.href} dir="auto" title=${text}>${beginningOf(text)}</a></th>`
  const cell = (/** @type {any} */ item, /** @type {string} */ name, /** @type {boolean} */ isHead) => {
    const [value, schema] = [valueAt(item, name), leaves.get(name)]
    const named = nameOf(name, value)
    if (isHead) return head(item, named?.name ?? (value === undefined ? item.id : textOf(value, schema)))
    return html`<td class=${isNumeric(schema) ? 'number' : undefined}><${Value} ...${{ value, schema, isCut: true }} ...${named} /></td>`
  }
  const mark = (/** @type {string} */ text, /** @type {any[]} */ all) => {
    const isMarked = all.every((one) => marked.includes(one))
    const others = marked.filter((one) => !all.includes(one))
    return html`<input type="checkbox" aria-label=${text} checked=${isMarked} onChange=${() => setMarked(isMarked ? others : [...others, ...all])} />`
  }
  const named = columns.filter((name) => items.some((item) => nameOf(name, valueAt(item, name))))
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Items">
    <table class="list">
      <thead><tr>
        ${canMark && html`<td>${mark('Mark all rows', items)}</td>`}
        ${isTitled && html`<th scope="col">${profile.title}</th>`}
        ${columns.map((name) => html`<${ColumnHead} ...${{ name, schema: leaves.get(name), isSortable: sort.includes(name) }} />`)}
      </tr></thead>
      <tbody>
        ${items.map(
          (item) => html`<tr>
          ${canMark && html`<td>${mark(`Mark ${titleOf(item, title)}`, [item])}</td>`}
          ${isTitled && head(item, titleOf(item, title))}
          ${columns.map((name, index) => cell(item, name, index === 0 && !isTitled))}
        </tr>`,
        )}
      </tbody>
    </table>
  </div>
  ${canMark && marked.length > 0 && html`<${Marked} key=${marked.map(({ _links: links }) => links.self.href).join()} ...${{ items: marked, profile, leaves }} />`}
  <${Columns} ...${{ leaves, columns, choose }} />
  ${maximum && html`<${Download} ...${{ columns, leaves, maximum }} references=${Object.fromEntries(named.map((name) => [name, references[name]]))} />`}`
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
