import { type ErrorEntry, errorOf } from '../documents/error-codes.ts'
import { type Html, html } from '../documents/html.ts'
import { pageWith, type Site, table } from './page.ts'

export function errorsPage({ errors }: { errors: readonly ErrorEntry[] }, site: Site): Html {
  const of = (kind: ErrorEntry['kind']) => errors.filter((entry) => entry.kind === kind)
  const content = html`<h1>Errors</h1>
<p>The body of every failed request is <code>{"error": {"code", "message", "details"}}</code>. Each entry of
<code>details</code> has a code of its own.</p>
<h2>Error codes</h2>
${table('Error codes', ['Code', 'Status', 'Cause'], rows(of('error'), site))}
<h2>Detail codes</h2>
${table('Detail codes', ['Code', 'Cause'], rows(of('detail'), site))}`
  return pageWith('Errors', site, content)
}

export function errorPage(entry: ErrorEntry, site: Site): Html {
  const { code, kind, status, cause, remedy, retry, request, response } = entry
  const error = errorOf(code)
  const location =
    kind === 'error'
      ? html`error.code, with status ${status}`
      : html`code of an entry in error.details of <a href="${site.root}/errors/${error}">${error}</a>`
  const content = html`<p><a href="${site.root}/errors">All errors</a></p>
<h1><code>${code}</code></h1>
<dl>
<div><dt>Found in</dt><dd>${location}</dd></div>
<div><dt>Cause</dt><dd>${cause}</dd></div>
<div><dt>What to do</dt><dd>${remedy}</dd></div>
${retry && html`<div><dt>Retry?</dt><dd>${retry}</dd></div>`}
</dl>
${request && sample('Request', request)}
${sample('Response', response)}`
  return pageWith(code, site, content)
}

function sample(title: string, text: string): Html {
  return html`<h2>${title}</h2>
<pre tabindex="0" aria-label="${title}"><code>${text}</code></pre>`
}

function rows(entries: readonly ErrorEntry[], { root }: Site): Html[] {
  return entries.map(
    ({ code, status, cause }) => html`<tr>
<th scope="row"><a href="${root}/errors/${code}"><code>${code}</code></a></th>
${status === undefined ? '' : html`<td>${status}</td>`}<td>${cause}</td>
</tr>`,
  )
}
