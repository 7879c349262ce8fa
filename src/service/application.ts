import type { RequestListener } from 'node:http'
import type { Database } from '../database/database.ts'
import type { Readers, ReportReplicas } from '../database/replicas/readers.ts'
import { TableSizes } from '../domain/table-sizes.ts'
import { ConnectionShares } from '../graph/execution/connection-shares.ts'
import type { DomainContext } from '../graph/execution/context.ts'
import { CostEstimator } from '../graph/execution/cost.ts'
import { createPrepare, createRunOperation } from '../graph/execution/operation.ts'
import { OperationLimiter } from '../graph/execution/operation-limiter.ts'
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
import { explorerFiles } from '../pages/explorer/routes.ts'
import { createRestInterface } from './interface.ts'
import { createReadiness } from './readiness.ts'
import { readSeeds } from './seeds.ts'
import { createServiceMetrics } from './service-metrics.ts'
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
  /** Told once that the start waits for the database, and why. */
  readonly reportWait?: (reason: string) => void
}

/** What changes while the HTTP server runs. */
export interface ServerState {
  readonly isStopping: boolean
  /** How many connections were closed at once because there were too many. */
  readonly refusedConnections: number
}

/** Makes the application on an open database. */
export type CreateApplication = (
  database: Database,
  readers: Readers,
  state: ServerState,
) => Promise<RequestListener>

/**
 * Makes the schema, which needs no database and so is made while that opens. Importing this file loads most packages.
 *
 * @throws {SettingsError} when an operation of GRAPHQL_OPERATIONS_DIR is not valid
 */
export async function prepareApplication(parts: ServiceParts): Promise<CreateApplication> {
  const documents = await makeDocuments(parts)
  return (database, readers, state) => createApplication(parts, documents, { database, readers, state })
}

async function makeDocuments({ settings, domain: { resources, versions, folder } }: ServiceParts) {
  const schema = createSchema(resources, versions)
  const operations = settings.graphqlOperationsDir ?? folder.operations
  const persisted = await readPersistedOperations(schema, operations).catch((error) => {
    throw new SettingsError([`GRAPHQL_OPERATIONS_DIR: ${error.message}`])
  })
  return { schema, persisted }
}

/** What the application works on. */
interface Running {
  readonly database: Database
  readonly readers: Readers
  readonly state: ServerState
}

async function createApplication(
  parts: ServiceParts,
  { schema, persisted }: Awaited<ReturnType<typeof makeDocuments>>,
  { database, readers, state }: Running,
): Promise<RequestListener> {
  const { settings, domain: definitions, tokens, reportFault, reportRequest } = parts
  const { maxPageSize: maximumPageSize } = settings
  const { resources, folder } = definitions
  const limiter = createOperationLimiter(settings)
  const run = createRunOperation(limiter)
  const connectionLimiters = createConnectionLimiters(settings, database)
  const sizes = new TableSizes(database.client, resources)
  const costs = new CostEstimator(resources, sizes)
  const domain: DomainContext = {
    client: database.client,
    resources,
    ruleSettings: settings.ruleSettings,
    maximumPageSize,
    readers,
    connections: new ConnectionShares({
      ...connectionLimiters,
      sizes,
      waited: (seconds) => database.pool.observer?.waited(seconds),
    }),
    idempotencyKeyHours: settings.idempotencyKeyHours,
  }
  const prepare = createPrepare({ schema, domain, costs, run })
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
    ? createServiceMetrics(
        database,
        { operations: limiter, connections: connectionLimiters.connections },
        readers,
        () => state.refusedConnections,
      )
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
    ...(settings.graphqlExplorer ? [explorerFiles(resources, persisted)] : []),
    ...rest.routes,
    graphql,
    rest.notFound,
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
    load: limiter,
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

/** A caller that is alone leaves these, for look-ups and for the first request of another. */
const CONNECTIONS_FOR_OTHERS = 3

/** The part of the connections that reads of large tables may take, all together. */
const SCAN_PART = 0.25

/** The embedded database runs one statement at a time. */
function createConnectionLimiters({ databaseUrl, callerShare }: Settings, { pool }: Database) {
  const share = (whole: number) => Math.ceil((whole * callerShare) / 100)
  const size = pool.options.max
  const scans = databaseUrl === undefined ? 1 : Math.max(Math.floor(size * SCAN_PART), 1)
  return {
    connections: new Limiter({
      capacity: size,
      share: Math.max(size - CONNECTIONS_FOR_OTHERS, share(size)),
      shareBesideOthers: callerShare < 100 ? Math.ceil(share(size) / 2) : size,
    }),
    scans: new Limiter({ capacity: scans, share: share(scans) }),
  }
}
