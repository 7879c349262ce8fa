import type { Context } from 'koa'
import { DomainError } from '../../domain/model/errors.ts'
import { addressesFor } from '../exchange.ts'
import { type CatalogueEntry, catalogueEntries } from './error-catalogue.ts'
import { type OpenRoute, sendJson } from './open-route.ts'
import { cataloguePage, entryPage } from './pages/error-pages.ts'
import type { Html } from './pages/html.ts'
import { respondWithPage, type SiteSettings, siteFor } from './pages/page.ts'

/** The error catalogue at `/errors` and one entry at `/errors/{CODE}`: as JSON, or as a page. */
export function catalogueRoutes(settings: SiteSettings): OpenRoute[] {
  const entries = catalogueEntries()
  const linked = (ctx: Context, entry: CatalogueEntry) => {
    const { origin } = new URL(addressesFor(ctx, settings).base)
    return { ...entry, href: `${origin}/errors/${entry.code}` }
  }
  const all: OpenRoute = [
    '/errors',
    (ctx) =>
      answer(
        ctx,
        () => ({ errors: entries.map((entry) => linked(ctx, entry)) }),
        () => cataloguePage(entries, siteFor(ctx, settings)),
      ),
  ]
  const each = entries.map((entry): OpenRoute => {
    const toPage = (ctx: Context) => entryPage(entry, siteFor(ctx, settings))
    return [
      `/errors/${entry.code}`,
      (ctx) =>
        answer(
          ctx,
          () => linked(ctx, entry),
          () => toPage(ctx),
        ),
    ]
  })
  return [all, ...each]
}

function answer(ctx: Context, toJson: () => object, toPage: () => Html): void {
  ctx.vary('Accept')
  const type = ctx.accepts('application/json', 'text/html')
  if (!type) throw new DomainError('NOT_ACCEPTABLE', 'The answer is application/json or text/html.')
  if (type === 'text/html') respondWithPage(ctx, toPage())
  else sendJson(ctx, JSON.stringify(toJson()))
}
