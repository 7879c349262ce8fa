import type { Context } from 'koa'
import { respondWithContent, staticContent } from '../../../http/static-content.ts'
import { addressesFor, type RestSettings } from '../../exchange.ts'
import { type Html, html } from './html.ts'

/**
 * Nothing from elsewhere, no code or style in the page itself. `frame-ancestors` and `form-action` do not
 * fall back to `default-src` (Content Security Policy Level 3 §6.1).
 */
export const STRICT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** What the header of every page leads to. */
export interface Site {
  /** The address of the entry document. */
  readonly base: string
  readonly hasExplorer: boolean
}

/** What the pages follow. */
export type SiteSettings = RestSettings & { readonly graphqlExplorer?: boolean }

/** The site as this caller sees it. */
export function siteFor(ctx: Context, settings: SiteSettings): Site {
  return { base: addressesFor(ctx, settings).base, hasExplorer: settings.graphqlExplorer === true }
}

/** The style of what a page shows itself; the reference brings its own. */
export const CONTENT_STYLE = html`<link rel="stylesheet" href="/docs/assets/content.css">`

/** A page with the header that all pages have: where one is, and where else one can go. */
export function page(
  title: string,
  { base, hasExplorer }: Site,
  content: Html,
  more: Html = CONTENT_STYLE,
): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="base" content="${base}">
<title>${title} – halgraph</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/assets/pages.css">
${more}
</head>
<body>
<header>
<a class="name" href="${base}">halgraph</a>
<nav aria-label="Site">
<a href="${base}">Browse</a>
<a href="/docs">Reference</a>
${hasExplorer ? html`<a href="/graphql">GraphQL</a>` : ''}
<a href="/errors">Errors</a>
<a href="${base}/openapi.json">OpenAPI</a>
</nav>
</header>
<main>
${content}
</main>
</body>
</html>
`
}

/** Answers with a page, and a policy that keeps it from loading or running anything else. */
export function respondWithPage(ctx: Context, content: Html, policy = STRICT_POLICY): void {
  ctx.set('Content-Security-Policy', policy)
  ctx.set('Referrer-Policy', 'no-referrer')
  respondWithContent(ctx, staticContent('.html', content.text))
}
