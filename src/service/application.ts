import type { Database, DatabaseOptions } from '../database/database.ts'
import type { Readers, ReportReplicas } from '../database/replicas/readers.ts'
import type { Domain } from '../domain/context.ts'
import { lowerCaseOf } from '../domain/lower-case.ts'
import { keepChanges } from '../domain/recording.ts'
import { type OpenSession, sessionsOf } from '../domain/session/session.ts'
import type { CreateFeature, CreateLimits } from '../features/feature.ts'
import { createExecutor } from '../graph/execution/operation.ts'
import { createRunOperation } from '../graph/execution/run-operation.ts'
import { createGraphQLRoute } from '../graph/http/apollo.ts'
import { readPersistedOperations } from '../graph/http/persisted-operations.ts'
import { createSchema } from '../graph/schema/schema.ts'
import { typeMap } from '../graph/type-map.ts'
import type { ReportRequest } from '../http/access-log.ts'
import { createApp } from '../http/app.ts'
import { authenticate } from '../http/auth/authenticate.ts'
import { keepMetadata } from '../http/auth/discovery.ts'
import type { TokenSettings } from '../http/auth/verify-token.ts'
import { healthRoutes } from '../http/health.ts'
import { byNamespace, enterNamespace } from '../http/namespaces.ts'
import { Access, unrestricted } from '../model/access/access.ts'
import { type Namespace, namespaceOf, ONLY_NAMESPACE } from '../model/access/caller.ts'
import { servedApiVersions } from '../model/definition/domain.ts'
import { explorerAssets } from '../pages/assets.ts'
import { documentRoutes, notFoundRoute, serviceRoutes } from '../pages/routes.ts'
import { allOperations } from '../rest/all-operations.ts'
import { apiVersions, deprecationHeaders } from '../rest/api-versions.ts'
import { createRoutes } from '../rest/routes.ts'
import { FEATURES, limitLoad } from './features.ts'
import type { Namespaces } from './namespaces/namespaces.ts'
import { createMetrics } from './observability/metrics.ts'
import type { Configuration } from './settings/configuration.ts'
import { readSeeds } from './settings/domain-folder.ts'
import { SettingsError } from './settings/settings.ts'

export interface ServiceParts extends Configuration {
  readonly tokens: TokenSettings
  /** Called for every fault, with the id of its request, if any. */
  readonly reportFault: (error: unknown, requestId?: string) => void
  readonly reportRequest?: ReportRequest
  readonly reportReplicas?: ReportReplicas
  /** Called once if the start has to wait for the database. */
  readonly reportWait?: (reason: string) => void
  /** By default, the service opens a database of its own; otherwise it shares an embedded one. */
  readonly open?: (options: DatabaseOptions) => Promise<Database>
  /** By default, all of them. */
  readonly features?: readonly CreateFeature[]
  /** By default, those of LOAD_CAPACITY and other settings. */
  readonly limit?: CreateLimits
}

/**
 * Prepares everything that needs no database, while the database opens. Importing this file loads most packages.
 *
 * @returns a function that makes the application on the open database, and starts the features. With several namespaces,
 *   that database has the first, and the application opens the others
 * @throws {SettingsError} when an operation of GRAPHQL_OPERATIONS_DIR is not valid
 */
export async function prepareApplication(parts: ServiceParts) {
  const { settings, tokens, reportFault, reportRequest } = parts
  const { resources, versions, folder, ...described } = parts.domain
  const { maximumPageSize, ruleSettings, idempotencyKeyHours } = settings
  const features = (parts.features ?? FEATURES).map((create) => create(resources))
  const schema = createSchema(resources, versions, features)
  const operations = settings.graphqlOperationsDir ?? folder.operations
  const persisted = await readPersistedOperations(schema, operations).catch((error) => {
    throw new SettingsError([`GRAPHQL_OPERATIONS_DIR: ${error.message}`])
  })
  const seeds = await readSeeds(folder)
  const providerMetadata =
    settings.oidcIssuer === undefined ? undefined : keepMetadata(settings.oidcIssuer, reportFault)
  void providerMetadata?.()

  const limits = (parts.limit ?? limitLoad)({ settings, schema, resources })
  const sessions = new WeakMap<Namespace, OpenSession>()
  const openSession: OpenSession = (caller, ...use) =>
    (sessions.get(namespaceOf(caller)) as OpenSession)(caller, ...use)

  /**
   * Makes what the callers of a namespace use, and starts the features on its database.
   *
   * @returns what ends what the features do in the background
   */
  async function open(
    namespace: Namespace,
    database: Database,
    readers?: Readers,
    patiently: Patiently = (work) => work(),
  ): Promise<() => void> {
    const isRecorded = await patiently(() => keepChanges(database.client, settings.changesDays, resources))
    const changesDays = isRecorded ? settings.changesDays : 0
    const { changesPerPage, close } = limits.open?.({ namespace, database }) ?? UNLIMITED
    const hasAccess = resources.some(({ access }) => access)
    const lower = hasAccess ? await patiently(() => lowerCaseOf(database.client)) : undefined
    const domain: Domain = {
      accessOf(caller) {
        return lower
          ? new Access({ caller, settings: ruleSettings, resources, lower })
          : unrestricted('no definition has rules')
      },
      client: database.client,
      resources,
      ruleSettings,
      maximumPageSize,
      readers,
      written(caller) {
        readers?.recordWrite(caller)
        for (const feature of features) feature.written?.(caller)
      },
      idempotencyKeyHours,
      changesDays,
    }
    sessions.set(namespace, sessionsOf(domain))
    const core = {
      namespace,
      database,
      readers,
      changesDays,
      replicaLag: settings.replicaLag,
      changesPerPage,
      accessOf: domain.accessOf,
    }
    const started = features.map(({ start }) => start && patiently(() => start(core)))
    const stops = await Promise.all(started)
    return () => {
      close()
      for (const stop of stops) stop?.()
    }
  }

  return async (
    database: Database,
    readers: Readers | undefined,
    state: { readonly isStopping: boolean; readonly refusedConnections: number },
    patiently: Patiently,
    namespaces?: Namespaces,
  ) => {
    const stop = await open(namespaces?.own ?? ONLY_NAMESPACE, database, readers, patiently)
    const run = createRunOperation(limits.around)
    const graphql = await createGraphQLRoute({
      schema,
      openSession,
      introspection: settings.graphqlIntrospection,
      documents: { persisted, persistedOnly: settings.graphqlPersistedOnly },
      reportFault,
      run,
      guard: limits.guard,
    })
    const metrics = settings.metrics
      ? createMetrics(database, readers, state, limits.load, settings.metricsByNamespace)
      : undefined
    const served = servedApiVersions(parts.domain, settings.apiVersion)
    const site = {
      ...settings,
      ...described,
      ...(namespaces && { namespace: '' }),
      apiVersion: served.shown,
      seeds,
      features,
      providerMetadata,
      types: settings.graphqlIntrospection ? typeMap(schema, resources) : undefined,
    }
    const interfaces = apiVersions(resources, served.versions, site)
    const executor = createExecutor({ schema, openSession, run })
    const operations = allOperations(features)
    const links = features.flatMap(({ links = [] }) => links)
    const check = (name: string) => (namespaces ? namespaces.check(name) : database.check())
    const routes = [
      ...healthRoutes(check, state),
      ...(metrics && !namespaces ? [metrics.route] : []),
      ...(settings.graphqlExplorer ? [explorerAssets(resources, persisted)] : []),
      ...interfaces.flatMap((one) => createRoutes({ ...one, executor, links }, operations)),
      ...documentRoutes(resources, site, interfaces),
      graphql,
      notFoundRoute(resources, site),
    ]
    const common = {
      settings,
      authenticate: authenticate(tokens, reportFault, settings.anonymousScopes),
      reportFault,
      reports: [reportRequest, metrics?.report].filter((report) => report !== undefined),
    }
    const { outermost = [], middleware = [] } = limits
    const app = createApp({
      ...common,
      routes,
      outermost: namespaces ? [...outermost, enterNamespace] : outermost,
      middleware: namespaces ? [namespaces.enter, ...middleware] : middleware,
      setPathHeaders: deprecationHeaders(interfaces),
      lag: readers && settings.replicaLag,
    })
    if (!namespaces) return { handler: app, stop, open }
    const outside = [
      ...healthRoutes(() => database.check(), state),
      ...(metrics ? [metrics.route] : []),
      ...serviceRoutes(resources, { ...site, namespace: namespaces.own.name }, namespaces.list),
    ]
    return { handler: byNamespace(app, createApp({ ...common, routes: outside, outermost })), stop, open }
  }
}

export type Patiently = <Result>(work: () => Promise<Result>) => Promise<Result>

const UNLIMITED = { changesPerPage: Number.POSITIVE_INFINITY, close() {} }
