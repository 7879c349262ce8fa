import type { Context } from 'koa'
import type { Resource } from '../../../domain/model/resource.ts'
import { respondWithContent, staticContent } from '../../../http/static-content.ts'
import { label } from '../../nouns.ts'
import { REFERENCE_PATH, type RestSettings, rootFor, urlsFor } from '../../urls.ts'
import type { Seed } from '../openapi/samples.ts'
import { PATHS } from '../openapi/service-paths.ts'
import { type Html, html } from './html.ts'

/**
 * Nothing is loaded from third parties, and a page holds no code or style itself. `frame-ancestors` and
 * `form-action` do not fall back to `default-src` (Content Security Policy Level 3 §6.1).
 */
const STRICT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** Swagger UI sets styles on its elements and has embedded images. */
const REFERENCE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** What the header of every page links to. */
export interface Site {
  /** The URL of the entry document. */
  readonly base: string
  /** What the URLs of the service begin with. */
  readonly root: string
  /** The URL of the reference. */
  readonly reference: string
  /** Where its styles and scripts are, relative to the page: the same whatever a gateway has removed. */
  readonly assets: string
  readonly hasExplorer: boolean
}

/** The settings of the pages. */
export type SiteSettings = RestSettings & {
  readonly graphqlExplorer?: boolean
  /** The catalogue that the examples of the reference are about. */
  readonly seeds?: readonly Seed[]
}

/** A page, with the content security policy that it needs if the usual one is too strict. */
export interface Page {
  readonly html: Html
  readonly policy?: string
}

/** The site as the sender of a request sees it. */
export function siteFor(ctx: Context, settings: SiteSettings): Site {
  const root = rootFor(ctx, settings)
  return {
    base: urlsFor(ctx, settings).base,
    root,
    reference: root + (settings.reference ?? REFERENCE_PATH),
    assets: `${'../'.repeat(ctx.path.split('/').length - 2)}docs/assets`,
    hasExplorer: settings.graphqlExplorer === true,
  }
}

/** Responds with a page, and a policy that keeps it from loading or running anything else. */
export function respondWithPage(ctx: Context, { html: { text }, policy = STRICT_POLICY }: Page): void {
  ctx.set('Content-Security-Policy', policy)
  ctx.set('Referrer-Policy', 'no-referrer')
  respondWithContent(ctx, staticContent('.html', text))
}

/**
 * The page for browsers at the entry document and below. A browser sends no token, so the page holds no
 * data and is the same for every path of a depth, known or not: its script requests the resource with the token of
 * the browser's session and shows the response.
 */
export function browsePage(site: Site): Page {
  const content = html`<div id="view" aria-live="polite"><p>Loading…</p></div>
<noscript><p>This page needs JavaScript; without it, ask for <code>application/json</code>.</p></noscript>`
  const head = html`${contentStyle(site)}
<script type="module" src="${site.assets}/browse.js"></script>`
  return { html: pageWith('Browse', site, content, head) }
}

/** The landing page: what the service is, where to go, and, with a token, what it holds. */
export function landingPage(site: Site, resources: readonly Resource[]): Page {
  const { base, root, reference, hasExplorer } = site
  const content = html`<h1>A catalogue with a REST and a GraphQL interface</h1>
<p>${resources
    .filter(({ owner }) => !owner)
    .map(({ path }) => label(path))
    .join(', ')}: as JSON with links (HAL), and as
one GraphQL schema. <span id="status" role="status"></span></p>
<ul class="cards">
${card(base, 'Browse', 'Read, create and change resources, with forms.')}
${card(reference, 'Reference', 'Every operation, with examples to try.')}
${hasExplorer ? card(`${root}/graphql`, 'GraphQL', 'An editor for queries, with the schema.') : ''}
${card(`${root}${PATHS.errors}`, 'Errors', 'What each code means, and what to do.')}
${card(`${base}${PATHS.json}`, 'OpenAPI', 'The description for programs.')}
</ul>
<div id="view"></div>
<noscript><p>Charts need JavaScript.</p></noscript>`
  const head = html`${contentStyle(site)}
<script src="${site.assets}/chart.js" defer></script>
<script type="module" src="${site.assets}/landing.js"></script>`
  return { html: pageWith('Home', site, content, head) }
}

function card(href: string, title: string, text: string): Html {
  return html`<li><a href="${href}">${title}</a><span class="note">${text}</span></li>`
}

/** The reference: the OpenAPI document, rendered by Swagger UI, from which calls can be tried. */
export function referencePage(site: Site): Page {
  const content = html`<h1 class="hidden">Reference</h1>
<div id="reference"></div>`
  const head = html`<link rel="stylesheet" href="${site.assets}/swagger-ui.css">
<script src="${site.assets}/swagger-ui-bundle.js" defer></script>
<script type="module" src="${site.assets}/reference.js"></script>`
  return { html: pageWith('Reference', site, content, head), policy: REFERENCE_POLICY }
}

/** The style of the content; the reference has its own. */
const contentStyle = ({ assets }: Site) => html`<link rel="stylesheet" href="${assets}/content.css">`

/** A page with the header that all pages have. */
export function pageWith(title: string, site: Site, content: Html, head: Html = contentStyle(site)): Html {
  const { base, root, reference, assets, hasExplorer } = site
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="base" content="${base}">
<meta name="root" content="${root}">
<title>${title} – halgraph</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets}/pages.css">
${head}
</head>
<body>
<header>
<a class="name" href="${root}/">halgraph</a>
<nav aria-label="Site">
<a href="${base}">Browse</a>
<a href="${reference}">Reference</a>
${hasExplorer ? html`<a href="${root}/graphql">GraphQL</a>` : ''}
<a href="${root}/errors">Errors</a>
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
