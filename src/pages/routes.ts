import { extname } from 'node:path'
import { stringify } from 'yaml'
import { type ErrorEntry, errorEntries, explanationsOf } from '../documents/error-codes.ts'
import type { Html } from '../documents/html.ts'
import { openApiDocument } from '../documents/openapi/document.ts'
import { EXAMPLE_ORIGIN } from '../documents/openapi/responses.ts'
import { PATHS } from '../documents/openapi/service-paths.ts'
import { profileOf } from '../documents/profile.ts'
import { GRAPHQL_PATH } from '../graph/http/apollo.ts'
import {
  contentHandler,
  contentRoute,
  respondWithContent,
  staticContent,
} from '../http/content/static-content.ts'
import type { Context } from '../http/context.ts'
import { link } from '../http/headers.ts'
import { rootFor } from '../http/request-target.ts'
import { type Handler, type Route, reads } from '../http/routes.ts'
import type { Resource } from '../model/definition/resource.ts'
import type { apiVersions } from '../rest/api-versions.ts'
import { negotiate, prefersPage } from '../rest/respond.ts'
import { byCaller, hasFieldScopes } from '../rest/routes-by-caller.ts'
import { API_CATALOG_PATH, basePath, REFERENCE_PATH } from '../rest/urls.ts'
import { pageAssets } from './assets.ts'
import { errorPage, errorsPage } from './error-pages.ts'
import { modelPage } from './model-page.ts'
import {
  browsePage,
  EDITOR_POLICY,
  explorerPage,
  landingPage,
  MODEL_PATH,
  namespacesPage,
  notFoundPage,
  referencePage,
  respondWithPage,
  type Site,
  type SiteSettings,
  siteFor,
} from './page.ts'

type SiteVersion = ReturnType<typeof apiVersions<SiteSettings>>[number]

function versionRoutes({ resources, settings }: SiteVersion): Route[] {
  const base = basePath(settings)
  const describe = () => openApiDocument(resources, { ...settings, publicBaseUrl: undefined }, settings)
  const reference = pageHandler(settings, referencePage)
  return [
    documentRoute(base + PATHS.json, () => JSON.stringify(describe()), settings),
    // Some parsers of YAML do not support aliases.
    documentRoute(base + PATHS.yaml, () => stringify(describe(), { aliasDuplicateObjects: false }), settings),
    ...profileRoutes(base + PATHS.profiles, resources, settings),
    ...(settings.reference ? [open(settings.reference, reference)] : []),
    browserRoute(`${base}{/{*path}}`, pageHandler(settings, browsePage)),
  ]
}

/** A token is optional. With one, a profile has the fields that its caller may read. */
function profileRoutes(path: string, resources: readonly Resource[], settings: SiteSettings): Route[] {
  const profilesOf = byCaller(resources, (views) => {
    const handlerOf = (view: Resource) =>
      contentHandler('.json', () => JSON.stringify(profileOf(view, views, settings)))
    return new Map(views.map((view) => [view.path, handlerOf(view)]))
  })
  const isVarying = hasFieldScopes(resources)
  const handlers = resources.map(({ path: name }): [string, Handler] => [
    name,
    (ctx) => {
      if (isVarying) ctx.vary('Authorization')
      return profilesOf(ctx).get(name)?.(ctx)
    },
  ])
  const route = contentRoute(path, Object.fromEntries(handlers))
  const hasCaller = (ctx: Context) =>
    settings.anonymousScopes !== undefined || ctx.get('Authorization') !== ''
  const applies = (ctx: Context) => hasCaller(ctx) && route.applies?.(ctx) === true
  return isVarying ? [{ ...route, access: 'token', applies }, route] : [route]
}

/** The routes without data: those of each version, and those of the default version. */
export function documentRoutes(
  resources: readonly Resource[],
  settings: SiteSettings,
  versions: readonly SiteVersion[],
): Route[] {
  const landing = pageHandler(settings, landingPage)
  const explorer = pageHandler(settings, explorerPage, EDITOR_POLICY)
  return [
    ...versions.flatMap(versionRoutes),
    browserRoute('/', landing),
    catalogRoute(settings, versions),
    ...errorRoutes(resources, settings),
    open(MODEL_PATH, pageHandler(settings, modelPage(resources, settings.types))),
    ...(settings.graphqlExplorer ? [browserRoute(GRAPHQL_PATH, explorer, prefersExplorer, 'Accept')] : []),
    open(REFERENCE_PATH, pageHandler(settings, referencePage)),
    pageAssets(resources),
    ...[REFERENCE_PATH, PATHS.errors, MODEL_PATH, GRAPHQL_PATH].map((path) =>
      redirect(`${path}/`, path, settings),
    ),
    redirect(PATHS.json, basePath(settings) + PATHS.json, settings),
  ]
}

/** The routes of a service that has several namespaces, beside theirs: the list of them, and the error codes. */
export function serviceRoutes(
  resources: readonly Resource[],
  settings: SiteSettings,
  list: Handler,
): Route[] {
  return [
    browserRoute('/', pageHandler(settings, namespacesPage)),
    { path: '/', access: 'token', methods: reads({ handle: list }) },
    ...errorRoutes(resources, settings),
    pageAssets(resources),
    notFoundRoute([], settings),
  ]
}

/** The page for browsers at unknown addresses. Other clients must send a token first. */
export function notFoundRoute(resources: readonly Resource[], settings: SiteSettings): Route {
  return browserRoute('/{*path}', async (ctx) => {
    const site = await siteFor(ctx, settings)
    // The log names the path of a request that has no route.
    ctx.state.route = undefined
    respondWithPage(ctx, site, notFoundPage(site, resources, ctx.path.slice(0, 200)))
    ctx.status = 404
  })
}

function pageHandler(
  settings: SiteSettings,
  make: (site: Site) => Html | Promise<Html>,
  policy?: string,
): Handler {
  return async (ctx) => {
    const site = await siteFor(ctx, settings)
    respondWithPage(ctx, site, await make(site), policy)
  }
}

/** A page for browsers. Other clients of its URL need a token. */
function browserRoute(path: string, handle: Handler, applies = prefersPage, vary = 'Accept, Authorization') {
  const route = open(path, (ctx) => {
    ctx.vary(vary)
    return handle(ctx)
  })
  return { ...route, applies }
}

/** @param from an address that people guess */
function redirect(from: string, to: string, settings: SiteSettings): Route {
  return open(from, (ctx) => {
    ctx.redirect(rootFor(ctx, settings) + to)
    ctx.status = 308
  })
}

/** Browsers get the explorer at the URL of GraphQL: they ask for HTML, which no GraphQL client does. */
function prefersExplorer(ctx: Context): boolean {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD'
  const types = ['application/json', 'application/graphql-response+json', 'text/html']
  return isRead && ctx.accepts(...types) === 'text/html'
}

function open(path: string, handle: Handler): Route {
  return { path, access: 'open', methods: reads({ handle }) }
}

/** Makes the document at the first request, with URLs as the client sees them. */
function documentRoute(path: string, make: () => string, settings: SiteSettings): Route {
  let text: string | undefined
  const contentAt = keepingLatest((root) => {
    text ??= make()
    return staticContent(extname(path), text.replaceAll(EXAMPLE_ORIGIN, root))
  })
  return open(path, (ctx) => respondWithContent(ctx, contentAt(rootFor(ctx, settings))))
}

/** Keeps only the latest, because nearly all clients see the same root. */
function keepingLatest<Made>(make: (root: string) => Made): (root: string) => Made {
  let latest: { root: string; made: Made } | undefined
  return (root) => {
    if (latest?.root !== root) latest = { root, made: make(root) }
    return latest.made
  }
}

/** The API catalog, with the link that RFC 9727 §2 requires for HEAD. */
function catalogRoute(settings: SiteSettings, versions: readonly SiteVersion[]): Route {
  return open(API_CATALOG_PATH, (ctx) => {
    const root = rootFor(ctx, settings)
    ctx.append('Link', link(root + API_CATALOG_PATH, 'api-catalog'))
    respondWithContent(ctx, staticContent('.linkset', JSON.stringify(apiCatalog(versions, root))))
  })
}

/**
 * A link set (RFC 9727 §4, RFC 9264 §4.2) with the entry document of each version and GraphQL, and their relations of
 * RFC 8631.
 *
 * @param root the beginning of all URLs of the service
 */
function apiCatalog(versions: readonly SiteVersion[], root: string): object {
  const common = { status: [{ href: `${root}/health/ready`, type: 'application/json' }] }
  const interfaces = versions.map(({ settings }) => {
    const base = root + basePath(settings)
    return {
      anchor: base,
      'service-desc': [
        { href: base + PATHS.json, type: 'application/json' },
        { href: base + PATHS.yaml, type: 'application/yaml' },
      ],
      'service-doc': [{ href: root + (settings.reference ?? REFERENCE_PATH), type: 'text/html' }],
      ...common,
    }
  })
  const all = [...interfaces, { anchor: root + GRAPHQL_PATH, ...common }]
  const item = all.map(({ anchor }) => ({ href: anchor }))
  return { linkset: [{ anchor: root + API_CATALOG_PATH, item }, ...all] }
}

function errorRoutes(resources: readonly Resource[], settings: SiteSettings): Route[] {
  const entriesAt = keepingLatest((root) => errorEntries(resources, root, basePath(settings)))
  const all = jsonOrPage(settings, (root) => ({ errors: entriesAt(root) }), errorsPage)
  const each = Object.keys(explanationsOf(resources)).map((code) => {
    const entryAt = (root: string) => entriesAt(root).find((entry) => entry.code === code) as ErrorEntry
    return [code, jsonOrPage(settings, entryAt, errorPage)]
  })
  return [open(PATHS.errors, all), contentRoute(PATHS.errors, Object.fromEntries(each))]
}

/** @throws {DomainError} from the handler: NOT_ACCEPTABLE (406) */
function jsonOrPage<Content extends object>(
  settings: SiteSettings,
  contentAt: (root: string) => Content,
  toPage: (content: Content, site: Site) => Html,
): Handler {
  return async (ctx) => {
    negotiate(ctx, ['application/json', 'text/html'])
    const content = contentAt(rootFor(ctx, settings))
    if (ctx.state.mediaType !== 'text/html')
      return respondWithContent(ctx, staticContent('.json', JSON.stringify(content)))
    const site = await siteFor(ctx, settings)
    respondWithPage(ctx, site, toPage(content, site))
  }
}
