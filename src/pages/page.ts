import { type Html, html } from '../documents/html.ts'
import type { DocumentedFeature } from '../documents/openapi/document.ts'
import type { Seed } from '../documents/openapi/seeds.ts'
import { PATHS } from '../documents/openapi/service-paths.ts'
import { GRAPHQL_PATH } from '../graph/http/apollo.ts'
import type { MappedType } from '../graph/type-map.ts'
import { respondWithContent, staticContent } from '../http/content/static-content.ts'
import type { Context } from '../http/context.ts'
import { rootFor } from '../http/request-target.ts'
import { plural } from '../model/definition/labels.ts'
import type { Resource } from '../model/definition/resource.ts'
import { SERVICE_NAME } from '../observability/service-name.ts'
import { REFERENCE_PATH, type RestSettings, urlsFor } from '../rest/urls.ts'
import { ACCESS_TOKEN, permitSignIn, SIGN_IN, type SignInSettings, signInFor } from './sign-in.ts'

/**
 * Pages load nothing from third parties and have no inline code or style. `frame-ancestors` and `form-action` do not
 * fall back to `default-src` (Content Security Policy Level 3 §6.1).
 */
const STRICT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** The explorer sets styles on its elements, and embeds images and fonts. */
export const EDITOR_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

export const MODEL_PATH = '/model'

export type SiteSettings = RestSettings &
  SignInSettings & {
    readonly graphqlExplorer?: boolean
    readonly namespaces?: 'one' | 'many'
    /** The GraphQL types; undefined if the schema is not public. */
    readonly types?: readonly MappedType[] | undefined
    /** The catalogue for the examples of the reference. */
    readonly seeds?: readonly Seed[]
    readonly features?: readonly DocumentedFeature[]
    readonly anonymousScopes?: string | undefined
  }

export type Site = Awaited<ReturnType<typeof siteFor>>

export async function siteFor(ctx: Context, settings: SiteSettings) {
  const root = rootFor(ctx, settings)
  return {
    title: settings.title ?? SERVICE_NAME,
    description: settings.description ?? 'Collections with a REST and a GraphQL interface.',
    base: urlsFor(ctx, settings).base,
    root,
    reference: root + (settings.reference ?? REFERENCE_PATH),
    /** Relative to the page, so that gateways may remove a prefix. */
    assets: `${'../'.repeat(ctx.path.split('/').length - 2)}docs/assets`,
    hasExplorer: settings.graphqlExplorer === true,
    /** Whether the page is of the service, and not of one of its namespaces. */
    isOutside: settings.namespaces === 'many' && ctx.state.namespace === undefined,
    signIn: await signInFor(ctx, settings, root),
    hasSeeds: (settings.seeds ?? []).length > 0,
  }
}

export function respondWithPage(
  ctx: Context,
  { signIn }: Site,
  { text }: Html,
  policy = STRICT_POLICY,
): void {
  ctx.set('Content-Security-Policy', permitSignIn(policy, signIn))
  ctx.set('Referrer-Policy', 'no-referrer')
  respondWithContent(ctx, staticContent('.html', text))
}

/**
 * The page for browsers at the entry document and below. Browsers send no token, so the page has no data. Its script
 * requests the resource with the token of the browser's session, if there is one.
 */
export function browsePage(site: Site): Html {
  const content = html`<div id="view" aria-live="polite"><p>Loading&hellip;</p></div>
<noscript><p>This page needs JavaScript. Without it, request <code>application/json</code>.</p></noscript>`
  const head = html`${contentStyles(site)}
<script type="module" src="${site.assets}/browse.js"></script>`
  return pageWith('Browse', site, content, head)
}

export function notFoundPage(site: Site, resources: readonly Resource[], path: string): Html {
  const collections = resources.filter(({ owner }) => !owner)
  const content = html`<h1>Not found</h1>
<p>There is nothing at <code>${path}</code>.${collections.length > 0 ? ' These collections exist:' : ''}</p>
<ul>
${collections.map((one) => html`<li><a href="${site.base}/${one.path}">${plural(one)}</a></li>`)}
</ul>
<p><a href="${site.root}/">Home</a></p>`
  return pageWith('Not found', site, content)
}

/** Its script lists the namespaces that the token of the browser's session may use. */
export function namespacesPage(site: Site): Html {
  const content = html`<h1>${site.title}</h1>
<p>${site.description}</p>
<div id="view" aria-live="polite"><p>Loading&hellip;</p></div>
<noscript><p>This page needs JavaScript. Without it, add the name of a namespace to the address.</p></noscript>`
  const head = html`${contentStyles(site)}
<script type="module" src="${site.assets}/namespaces.js"></script>`
  return pageWith('Namespaces', site, content, head)
}

/** Its script shows the collections that the token of the browser's session may read. */
export function landingPage(site: Site): Html {
  const content = html`<h1>${site.title}</h1>
<p>${site.description}</p>
<p id="status" role="status"></p>
<div id="view"></div>
<noscript><p>This page needs JavaScript. Without it, request <a href="${site.base}">the collections</a> as JSON.</p></noscript>`
  const head = html`${contentStyles(site)}
<script type="module" src="${site.assets}/landing.js"></script>`
  return pageWith('Home', site, content, head)
}

/** The OpenAPI document for people. */
export function referencePage(site: Site): Html {
  const content = html`<div id="view"><p>Loading&hellip;</p></div>
<noscript><p>This page needs JavaScript. Without it, read <a href="${site.base}${PATHS.json}">the OpenAPI document</a>.</p></noscript>`
  const head = html`${contentStyles(site)}
<link rel="stylesheet" href="${site.assets}/reference.css">
<script type="module" src="${site.assets}/reference.js"></script>`
  return pageWith('Reference', site, content, head)
}

/** GraphiQL with example operations. */
export function explorerPage(site: Site): Html {
  const files = 'graphql/explorer'
  const content = html`<div class="bar">
<h1>GraphQL explorer</h1>
<label class="examples">Example
<select id="examples"><option value="">Choose&hellip;</option></select>
</label>
</div>
<div id="explorer"></div>
<noscript>The explorer needs JavaScript.</noscript>`
  const head = html`<link rel="stylesheet" href="${files}/graphiql.css">
<link rel="stylesheet" href="${files}/explorer.css">
<script type="module" src="${files}/explorer.js"></script>`
  return pageWith('GraphQL explorer', site, content, head)
}

const contentStyles = ({ assets }: Site) =>
  html`${['content', 'forms', 'collections'].map(
    (name) => html`<link rel="stylesheet" href="${assets}/${name}.css">\n`,
  )}`

/** A wide table can be scrolled, even with the keyboard. */
export function table(title: string, columns: readonly string[], rows: readonly Html[], style = ''): Html {
  return html`<div class="scroll${style}" tabindex="0" role="region" aria-label="${title}"><table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows}</tbody>
</table></div>`
}

/** The links in the header of every page. On a phone, one menu has all of them. */
function navigation(title: string, { base, root, reference, hasExplorer, isOutside }: Site): Html {
  const link = (page: string, text: string, href: string, style?: string) =>
    html`<a href="${href}"${style && html` class="${style}"`}${page === title ? html` aria-current="page"` : ''}>${text}</a>\n`
  const browse = (style: string) => (isOutside ? '' : link('Browse', 'Browse', base, style))
  const forDevelopers = [
    ['Reference', 'Reference', reference],
    ...(hasExplorer ? [['GraphQL explorer', 'GraphQL', root + GRAPHQL_PATH] as const] : []),
    ['Data model', 'Model', root + MODEL_PATH],
    ['Errors', 'Errors', root + PATHS.errors],
    ['OpenAPI', 'OpenAPI', base + PATHS.json],
  ] as const
  const shown = forDevelopers.filter(([page]) => !isOutside || page === 'Errors')
  return html`<nav aria-label="Site">
${browse('wide')}<details class="menu">
<summary><span class="wide">For developers</span><span class="narrow">Menu</span></summary>
<div class="panel">
${browse('narrow')}<span class="narrow note">For developers</span>
${shown.map(([page, text, href]) => link(page, text, href))}</div>
</details>
</nav>`
}

export function pageWith(title: string, site: Site, content: Html, head: Html = contentStyles(site)): Html {
  const { base, root, assets, hasSeeds, signIn } = site
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="base" content="${base}">
<meta name="root" content="${root}">${hasSeeds ? html`\n<meta name="seed" content="npx halgraph seed">` : ''}${signIn && html`\n<meta name="sign-in" content="${JSON.stringify(signIn)}">`}
<title>${title} &ndash; ${site.title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets}/pages.css">
<script type="module" src="${assets}/session-control.js"></script>
${head}
</head>
<body>
<header>
<a class="name" href="${root}/">${site.title}</a>
${navigation(title, site)}
${signIn ? SIGN_IN : ACCESS_TOKEN}
</header>
<main>
${content}
</main>
</body>
</html>
`
}
