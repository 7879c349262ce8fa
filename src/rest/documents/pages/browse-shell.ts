import type { Context } from 'koa'
import { html } from './html.ts'
import { CONTENT_STYLE, page, respondWithPage, type SiteSettings, siteFor } from './page.ts'

/**
 * The page that a browser gets at the entry document and below. A browser sends no token, so the page
 * holds no data and is the same for every address, whether something is there or not: its script asks for
 * the resource with the token of the browser's session and shows the answer.
 *
 * @returns a function that answers the requests that want it, and tells whether it did
 */
export function browseShell(settings: SiteSettings): (ctx: Context) => boolean {
  const base = `/${settings.namespace}/${settings.version}`
  return (ctx) => {
    const isBelow = ctx.path === base || ctx.path.startsWith(`${base}/`)
    if (!isBelow || (ctx.method !== 'GET' && ctx.method !== 'HEAD') || !prefersPage(ctx)) return false
    ctx.vary('Accept, Authorization')
    respondWithPage(ctx, page('Browse', siteFor(ctx, settings), CONTENT, HEAD))
    return true
  }
}

/**
 * A browser sends no token by itself and ranks HTML above both JSON types. Whoever sends a token is a client
 * of the interface, for which HTML is not acceptable (406).
 */
function prefersPage(ctx: Context): boolean {
  if (ctx.get('Authorization') !== '' || !ctx.get('Accept').includes('text/html')) return false
  return ctx.accepts('application/json', 'application/hal+json', 'text/html') === 'text/html'
}

const HEAD = html`${CONTENT_STYLE}
<script type="module" src="/docs/assets/browse.js"></script>`

const CONTENT = html`<div id="view" aria-live="polite"><p>Loading…</p></div>
<noscript><p>This page needs JavaScript; without it, ask for <code>application/json</code>.</p></noscript>`
