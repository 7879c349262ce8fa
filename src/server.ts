import type { Database } from './database/database.ts'
import { type DatabaseOptions, openDatabase } from './database/open-database.ts'
import { openReaders, type Readers, type ReportReplicas } from './database/replicas/readers.ts'
import { startKeyExpiry } from './domain/idempotency.ts'
import type { Domain } from './domain/model/domain.ts'
import { servedVersions } from './domain/model/versions/versions.ts'
import { TableSizes } from './domain/table-sizes.ts'
import type { DomainContext } from './graph/execution/context.ts'
import { CostEstimator } from './graph/execution/cost.ts'
import { Limiter } from './graph/execution/limiter.ts'
import { createPrepare, createRunOperation, instrument, type Prepare } from './graph/execution/operation.ts'
import { OperationLimiter, Scans } from './graph/execution/operation-limiter.ts'
import { createGraphQLRoute } from './graph/http/apollo.ts'
import { explorerRoute } from './graph/http/explorer.ts'
import { readPersistedOperations } from './graph/http/persisted-operations.ts'
import { createSchema } from './graph/schema/schema.ts'
import { typeMap } from './graph/type-map.ts'
import type { ReportRequest } from './http/access-log.ts'
import { createApp } from './http/app.ts'
import { authenticate } from './http/auth/authenticate.ts'
import type { TokenSettings } from './http/auth/verify-token.ts'
import { healthRoutes } from './http/health.ts'
import { createHttpServer } from './http/server.ts'
import { listen } from './listen.ts'
import { createReadiness } from './readiness.ts'
import { createRestInterface } from './rest/interface.ts'
import { basePath } from './rest/urls.ts'
import { readSeeds } from './seeds.ts'
import { createServiceMetrics } from './service-metrics.ts'
import { databaseOptions } from './settings/configuration.ts'
import type { LocatedDomain } from './settings/domain-folder.ts'
import { type Settings, SettingsError } from './settings/settings.ts'

/** What the service is started with: its settings, how tokens are verified, and who hears of it. */
export interface ServiceParts {
  readonly settings: Settings
  readonly domain: LocatedDomain
  readonly tokens: TokenSettings
  /** Told of every fault, with the id of the request where there is one. */
  readonly reportFault: (error: unknown, requestId?: string) => void
  /** Told of every request once it is over. */
  readonly reportRequest?: ReportRequest
  readonly reportReplicas?: ReportReplicas
  /** Wraps the preparation of the operations that REST runs, so that they can be watched. */
  readonly watch?: (prepare: Prepare) => Prepare
}

/** A running service. */
export interface Service {
  /** Where it listens: `http://127.0.0.1:3000`. */
  readonly origin: string
  /** The entry document of the version that pages and examples show: `http://127.0.0.1:3000/api/v1`. */
  readonly base: string
  readonly database: Database
  /** From now on it is not ready, and every answer ends its connection; it still answers. */
  announceStop(): void
  /**
   * Answers what was accepted, then ends all connections and closes the database.
   *
   * @returns whether everything was answered before the deadline of the settings
   */
  close(): Promise<boolean>
}

/** What changes while the HTTP server runs. */
interface ServerState {
  readonly isStopping: boolean
  /** How many connections were closed at once because there were too many. */
  readonly refusedConnections: number
}

/** After an announced stop, an idle connection is kept for so long: its client may just have sent a request. */
const IDLE_MILLISECONDS = 1_000

/**
 * Starts the service: database, domain, GraphQL, REST, in this order, each knowing only those before it.
 *
 * @throws {DatabaseRefusedError} when the database cannot be used
 * @throws {DefinitionError} when the Prisma client does not fit the definitions
 * @throws {SettingsError} when the domain has no version API_VERSION, it cannot listen on HOST and PORT, or an
 *   operation of GRAPHQL_OPERATIONS_DIR is not valid
 */
export async function startService(parts: ServiceParts): Promise<Service> {
  const { settings, domain } = parts
  const base = basePath({ namespace: settings.namespace, version: shownVersion(domain, settings) })
  const options = await databaseOptions(parts)
  const database = await openDatabase(options)
  const state = { isStopping: false, refusedConnections: 0 }
  let idleTimeout = 0
  const announceStop = () => {
    state.isStopping = true
    idleTimeout = IDLE_MILLISECONDS
  }
  try {
    const readers = await openReadersOf(parts, database, options)
    const handler = await createApplication(parts, database, readers, state)
    const { server, drain } = createHttpServer(handler, {
      ...settings,
      isStopping: () => state.isStopping,
    })
    server.on('drop', () => {
      state.refusedConnections++
    })
    const origin = await listen(server, settings)
    const stopKeyExpiry = startKeyExpiry(database.client, settings.idempotencyKeyHours)
    const close = async () => {
      state.isStopping = true
      stopKeyExpiry()
      const inTime = await drain(settings.shutdownSeconds * 1000, idleTimeout)
      await readers.close()
      await database.close()
      return inTime
    }
    return { origin, base: origin + base, database, announceStop, close }
  } catch (error) {
    await database.close()
    throw error
  }
}

function shownVersion(domain: Domain, { version }: Settings): string {
  const { versions, shown } = servedVersions(domain, version)
  const names = versions.map(({ name }) => name)
  if (names.includes(shown)) return shown
  throw new SettingsError([`API_VERSION: the domain has the versions ${names.join(', ')}, not ${shown}`])
}

function openReadersOf(
  { settings, tokens: { jwt }, reportReplicas: report }: ServiceParts,
  database: Database,
  { tables: { PrismaClient } }: DatabaseOptions,
): Promise<Readers> {
  const {
    databasePoolSize: poolSize,
    databaseTimeout: timeout,
    databaseReplicaUrls,
    replicaLag: lag,
    replicaPosition: position,
  } = settings
  const secret = settings.consistencySecret ?? (jwt.kind === 'secret' ? jwt.secret : undefined)
  const replicas = { addresses: databaseReplicaUrls, lag, position, secret, report }
  return openReaders(database, { PrismaClient, poolSize, timeout }, replicas)
}

async function createApplication(
  parts: ServiceParts,
  database: Database,
  readers: Readers,
  state: ServerState,
) {
  const { settings, domain: definitions, tokens, reportFault, reportRequest, watch = (same) => same } = parts
  const { maxPageSize: maximumPageSize } = settings
  const { resources, folder } = definitions
  const limiter = createOperationLimiter(settings)
  const run = createRunOperation(limiter)
  const sizes = new TableSizes(database.client, resources)
  const costs = new CostEstimator(resources, sizes)
  const domain: DomainContext = {
    client: database.client,
    resources,
    ruleSettings: settings.ruleSettings,
    maximumPageSize,
    readers,
    scans: new Scans(sizes, createScanLimiter(settings)),
    idempotencyKeyHours: settings.idempotencyKeyHours,
  }
  const schema = createSchema(resources, definitions.versions)
  const prepare = instrument(watch(createPrepare(schema, domain)), run, schema, costs)
  const operations = settings.graphqlOperationsDir ?? folder.operations
  const persisted = await readPersistedOperations(schema, operations).catch((error) => {
    throw new SettingsError([`GRAPHQL_OPERATIONS_DIR: ${error.message}`])
  })
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
    ? createServiceMetrics(database, limiter, readers, () => state.refusedConnections)
    : undefined
  const rest = createRestInterface(definitions, prepare, {
    ...settings,
    maximumPageSize,
    seeds: await readSeeds(folder.seed),
    typeMap: settings.graphqlIntrospection ? () => typeMap(schema, resources) : undefined,
  })
  const routes = [
    ...healthRoutes(
      createReadiness(
        () => database.check(),
        () => state.isStopping,
      ),
    ),
    ...(metrics ? [metrics.route] : []),
    ...(settings.graphqlExplorer ? [explorerRoute(resources, persisted)] : []),
    ...rest.routes,
    graphql,
  ]
  return createApp({
    routes,
    settings,
    authenticate: authenticate(tokens, reportFault),
    reportFault,
    reportRequest(request) {
      reportRequest?.(request)
      metrics?.report(request)
    },
    overload: {
      isFull: (caller) => limiter.isFull(caller),
      refuse: () => limiter.refuse(),
      holdResponse: (caller, bytes) => limiter.holdResponse(caller, bytes),
    },
    pathHeaders: rest.pathHeaders,
    positions: readers.positions,
  })
}

function createOperationLimiter(settings: Settings): OperationLimiter {
  return new OperationLimiter({
    concurrent: settings.concurrentOperations,
    waiting: settings.waitingOperations,
    deadline: settings.databaseTimeout,
    responses: settings.responseMemory * 2 ** 20,
    callerShare: settings.callerShare / 100,
  })
}

/** The part of the connections that reads of large tables may take, all together. */
const SCAN_PART = 0.25

/** The embedded database runs one statement at a time. */
function createScanLimiter({ databaseUrl, databasePoolSize, callerShare }: Settings): Limiter {
  const connections = databaseUrl === undefined ? 1 : Math.max(Math.floor(databasePoolSize * SCAN_PART), 1)
  return new Limiter({ capacity: connections, share: Math.ceil((connections * callerShare) / 100) })
}
