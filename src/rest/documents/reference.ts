import type { OpenRoute } from './open-route.ts'
import { html } from './pages/html.ts'
import { page, respondWithPage, type SiteSettings, siteFor } from './pages/page.ts'

/** The renderer sets styles on its elements and shows small images it carries along. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** The reference at `/docs`: the OpenAPI document, rendered by Swagger UI, from which calls can be tried. */
export function referenceRoutes(settings: SiteSettings): OpenRoute[] {
  return [
    [
      '/docs',
      (ctx) => respondWithPage(ctx, page('Reference', siteFor(ctx, settings), CONTENT, HEAD), POLICY),
    ],
  ]
}

const HEAD = html`<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
<script src="/docs/assets/swagger-ui-bundle.js" defer></script>
<script type="module" src="/docs/assets/reference.js"></script>`

const CONTENT = html`<h1 class="hidden">Reference</h1>
<div id="reference"></div>`
