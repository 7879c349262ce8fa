import type { CatalogueEntry } from '../error-catalogue.ts'
import { type Html, html } from './html.ts'
import { pageWith, type Site } from './page.ts'

/** The page of the whole catalogue. */
export function cataloguePage(entries: readonly CatalogueEntry[], site: Site): Html {
  const of = (kind: CatalogueEntry['kind']) => entries.filter((entry) => entry.kind === kind)
  return pageWith(
    'Errors',
    site,
    html`<h1>Errors</h1>
<p>The body of every failed request is <code>{"error": {"code", "message", "details"}}</code>. Below are the
codes of errors, then those of the entries of <code>details</code>.</p>
<h2>Codes of errors</h2>
${table(of('error'), site, ['Code', 'Status', 'Cause'])}
<h2>Codes of details</h2>
${table(of('detail'), site, ['Code', 'Cause'])}`,
  )
}

/** The page of one code. */
export function entryPage({ code, kind, status, cause, remedy }: CatalogueEntry, site: Site): Html {
  const location =
    kind === 'error' ? `error.code, with status ${status}` : 'code of an entry of error.details'
  return pageWith(
    code,
    site,
    html`<p><a href="${site.root}/errors">All errors</a></p>
<h1><code>${code}</code></h1>
<dl>
<div><dt>Found in</dt><dd>${location}</dd></div>
<div><dt>Cause</dt><dd>${cause}</dd></div>
<div><dt>What to do</dt><dd>${remedy}</dd></div>
</dl>`,
  )
}

function table(entries: readonly CatalogueEntry[], { root }: Site, columns: readonly string[]): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${columns[0]} table"><table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${entries.map(
    ({ code, status, cause }) => html`<tr>
<th scope="row"><a href="${root}/errors/${code}"><code>${code}</code></a></th>
${status === undefined ? '' : html`<td>${status}</td>`}<td>${cause}</td>
</tr>`,
  )}</tbody>
</table></div>`
}
