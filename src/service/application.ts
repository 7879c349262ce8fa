import type { Database } from '../database/database.ts'
import type { Readers, ReportReplicas } from '../database/replicas/readers.ts'
import { keepChanges } from '../domain/recording.ts'
import { tableSizes } from '../domain/table-sizes.ts'
import type { CreateFeature } from '../features/feature.ts'
import { ConnectionShares } from '../graph/execution/connections.ts'
import type { DomainContext } from '../graph/execution/context.ts'
import { CostEstimator } from '../graph/execution/cost.ts'
import { createExecutor } from '../graph/execution/operation.ts'
import { OperationLimiter } from '../graph/execution/operation-limiter.ts'
import { createRunOperation } from '../graph/execution/run-operation.ts'
import { createGraphQLRoute } from '../graph/http/apollo.ts'
import { readPersistedOperations } from '../graph/http/persisted-operations.ts'
import { createSchema } from '../graph/schema/schema.ts'
import { typeMap } from '../graph/type-map.ts'
import type { ReportRequest } from '../http/access-log.ts'
import { createApp } from '../http/app.ts'
import { authenticate } from '../http/auth/authenticate.ts'
import type { TokenSettings } from '../http/auth/verify-token.ts'
import { healthRoutes } from '../http/health.ts'
import { Limiter } from '../http/limiter.ts'
import { servedVersions } from '../model/domain.ts'
import { explorerAssets } from '../pages/assets.ts'
import { documentRoutes, notFoundRoute } from '../pages/routes.ts'
import { allOperations } from '../rest/all-operations.ts'
import { apiVersions, deprecationHeaders } from '../rest/api-versions.ts'
import { createRoutes } from '../rest/routes.ts'
import { FEATURES } from './features.ts'
import { createMetrics } from './metrics.ts'
import type { Configuration } from './settings/configuration.ts'
import { readSeeds } from './settings/domain-folder.ts'
import { type Settings, SettingsError } from './settings/settings.ts'

export interface ServiceParts extends Configuration {
  readonly tokens: TokenSettings
  /** Called for every fault, with the id of its request, if any. */
  readonly reportFault: (error: unknown, requestId?: string) => void
  readonly reportRequest?: ReportRequest
  readonly reportReplicas?: ReportReplicas
  /** Called once if the start has to wait for the database. */
  readonly reportWait?: (reason: string) => void
  /** By default, all of them. */
  readonly features?: readonly CreateFeature[]
}

/**
 * Prepares everything that needs no database, while the database opens. Importing this file loads most packages.
 *
 * @returns a function that makes the application on the open database, and starts the features
 * @throws {SettingsError} when an operation of GRAPHQL_OPERATIONS_DIR is not valid
 */
export async function prepareApplication(parts: ServiceParts) {
  const { settings, tokens, reportFault, reportRequest } = parts
  const { resources, versions, folder, title, description, license } = parts.domain
  const { maximumPageSize, ruleSettings, idempotencyKeyHours } = settings
  const features = (parts.features ?? FEATURES).map((create) => create(resources))
  const schema = createSchema(resources, versions, features)
  const operations = settings.graphqlOperationsDir ?? folder.operations
  const persisted = await readPersistedOperations(schema, operations).catch((error) => {
    throw new SettingsError([`GRAPHQL_OPERATIONS_DIR: ${error.message}`])
  })
  const seeds = await readSeeds(folder)
  const limiter = new OperationLimiter({
    concurrent: settings.concurrentOperations,
    waiting: settings.waitingOperations,
    deadline: settings.databaseTimeout,
    responses: settings.responseMemory * 2 ** 20,
    callerShare: settings.callerShare / 100,
  })
  const run = createRunOperation(limiter)

  return async (
    database: Database,
    readers: Readers | undefined,
    state: { readonly isStopping: boolean; readonly refusedConnections: number },
    patiently: <Result>(work: () => Promise<Result>) => Promise<Result>,
  ) => {
    const isRecorded = await patiently(() => keepChanges(database.client, settings.changesDays))
    const changesDays = isRecorded ? settings.changesDays : 0
    const limiters = createConnectionLimiters(settings, database)
    const sizes = tableSizes(database.client, resources)
    const costs = new CostEstimator(schema, resources, sizes)
    const waited = (seconds: number) => database.pool.observer?.waited(seconds)
    const domain: DomainContext = {
      client: database.client,
      resources,
      ruleSettings,
      maximumPageSize,
      readers,
      written(caller) {
        readers?.recordWrite(caller)
        for (const feature of features) feature.written?.()
      },
      connections: new ConnectionShares({ ...limiters, sizes, waited }),
      idempotencyKeyHours,
      changesDays,
    }
    const graphql = await createGraphQLRoute({
      schema,
      domain,
      introspection: settings.graphqlIntrospection,
      limits: { depth: settings.graphqlMaxDepth, cost: settings.graphqlMaxCost },
      costs,
      documents: { persisted, persistedOnly: settings.graphqlPersistedOnly },
      reportFault,
      run,
    })
    const metrics = settings.metrics
      ? createMetrics(database, readers, state, limiter, limiters.connections)
      : undefined
    const served = servedVersions(parts.domain, settings.version)
    const site = {
      ...settings,
      version: served.shown,
      title,
      description,
      license,
      seeds,
      features,
      types: settings.graphqlIntrospection ? typeMap(schema, resources) : undefined,
    }
    const interfaces = apiVersions(resources, served.versions, site)
    const executor = createExecutor({ schema, domain, costs, run })
    const operations = allOperations(features)
    const links = features.flatMap(({ links = [] }) => links)
    const routes = [
      ...healthRoutes(() => database.check(), state),
      ...(metrics ? [metrics.route] : []),
      ...(settings.graphqlExplorer ? [explorerAssets(resources, persisted)] : []),
      ...interfaces.flatMap((version) => createRoutes({ ...version, executor, links }, operations)),
      ...documentRoutes(resources, site, interfaces),
      graphql,
      notFoundRoute(resources, site),
    ]
    const handler = createApp({
      routes,
      settings,
      authenticate: authenticate(tokens, reportFault),
      reportFault,
      reports: [reportRequest, metrics?.report].filter((report) => report !== undefined),
      load: limiter,
      setPathHeaders: deprecationHeaders(interfaces),
      positions: readers?.positions,
    })
    const core = { database, readers, changesDays, replicaLag: settings.replicaLag }
    const started = features.map(({ start }) => start && patiently(() => start(core)))
    const stops = await Promise.all(started)
    return {
      handler,
      /** Ends what the features do in the background. */
      stop() {
        for (const stop of stops) stop?.()
      },
    }
  }
}

/** A single caller leaves these connections free, for look-ups and for the first request of another caller. */
const CONNECTIONS_FOR_OTHERS = 3

/** The part of the connections that reads of large tables may take together. */
const SCAN_PART = 0.25

/** The part of the connections that may write at the same time. */
const WRITE_PART = 0.5

/** The embedded database runs one statement at a time, so it gets one scan. */
function createConnectionLimiters({ callerShare, databaseUrl }: Settings, { pool }: Database) {
  const shareOf = (whole: number) => Math.ceil((whole * callerShare) / 100)
  const size = pool.options.max
  const share = shareOf(size)
  const scans = databaseUrl === undefined ? 1 : Math.max(Math.floor(size * SCAN_PART), 1)
  const writing = Math.ceil(size * WRITE_PART)
  const writes = new Limiter({ capacity: writing, share: writing, shareBesideOthers: shareOf(writing) })
  pool.abandoned.hold = () => writes.hold('', 1)
  return {
    writes,
    isStalled: () => pool.abandoned.count >= writing,
    connections: new Limiter({
      capacity: size,
      share: Math.max(size - CONNECTIONS_FOR_OTHERS, share),
      shareBesideOthers: callerShare < 100 ? Math.ceil(share / 2) : size,
    }),
    scans: new Limiter({ capacity: scans, share: shareOf(scans) }),
  }
}
