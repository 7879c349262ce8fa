import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Database } from './domain/database/database.ts'
import { type DatabaseOptions, openDatabase } from './domain/database/open-database.ts'
import { openReaders, type Readers, type ReportReplicas } from './domain/database/readers.ts'
import { forgetKeysRegularly } from './domain/idempotency.ts'
import { resources } from './domain/resources/index.ts'
import { Admission, FULL } from './graph/admission.ts'
import type { DomainContext } from './graph/context.ts'
import { createGraphQLServer } from './graph/http/apollo.ts'
import { createExplorer } from './graph/http/explorer.ts'
import { readPersistedOperations } from './graph/http/persisted-operations.ts'
import { createRunOperation, instrument } from './graph/instrument.ts'
import { createPrepare, type Prepare } from './graph/operation.ts'
import { createSchema } from './graph/schema.ts'
import { createHttpServer } from './http-server.ts'
import { createReadiness } from './readiness.ts'
import { createApp } from './rest/app.ts'
import { authenticate, type TokenSettings } from './rest/authenticate.ts'
import { readJsonBody } from './rest/body.ts'
import { createMetrics, type Metrics } from './rest/metrics.ts'
import type { ReportRequest } from './rest/observe.ts'
import type { Settings } from './settings.ts'

/** What the service is started with: its settings, how tokens are verified, and who hears of it. */
export interface ServiceParts {
  readonly settings: Settings
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

/** After an orderly announcement, nobody is cut off who may just have sent something. */
const IDLE_MILLISECONDS = 1_000

/**
 * Starts the service: database, domain, GraphQL, REST, in this order, each knowing only those before it.
 *
 * @throws {DatabaseRefusedError} when the database cannot be used
 */
export async function startService(parts: ServiceParts): Promise<Service> {
  const { settings } = parts
  const database = await openDatabase(databaseOptions(settings))
  let isStopping = false
  let patience = 0
  const announceStop = () => {
    isStopping = true
    patience = IDLE_MILLISECONDS
  }
  try {
    const readers = await openReadersOf(parts, database)
    const handler = await createApplication(parts, database, readers, () => isStopping)
    const { server, drain } = createHttpServer(handler, { ...settings, isStopping: () => isStopping })
    await listen(server, settings)
    const stopForgetting = forgetKeysRegularly(database.client, settings.idempotencyKeyHours)
    const close = async () => {
      isStopping = true
      stopForgetting()
      const inTime = await drain(settings.shutdownSeconds * 1000, patience)
      await readers.close()
      await database.close()
      return inTime
    }
    return { origin: originOf(server), database, announceStop, close }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** The part of the settings that says which database to open. */
export function databaseOptions(settings: Settings): DatabaseOptions {
  const { databaseUrl, dataDir, migrateOnStart, databasePoolSize, databaseTimeout, embeddedFsync } = settings
  const limits = { poolSize: databasePoolSize, timeout: databaseTimeout }
  return { databaseUrl, dataDir, migrateOnStart, ...limits, fsync: embeddedFsync }
}

function openReadersOf({ settings, reportReplicas }: ServiceParts, database: Database): Promise<Readers> {
  const { databasePoolSize: poolSize, databaseTimeout: timeout, databaseReplicaUrls, replicaLag } = settings
  return openReaders(database, databaseReplicaUrls, { poolSize, timeout }, replicaLag, reportReplicas)
}

async function createApplication(
  parts: ServiceParts,
  database: Database,
  readers: Readers,
  isStopping: () => boolean,
) {
  const { settings, tokens, reportFault, reportRequest, watch = (prepare) => prepare } = parts
  const { maxPageSize: maximumPageSize, planetReference } = settings
  const admission = createAdmission(settings)
  const run = createRunOperation(admission)
  const domain: DomainContext = {
    client: database.client,
    planetReference,
    maximumPageSize,
    readers,
    idempotencyKeyHours: settings.idempotencyKeyHours,
  }
  const schema = createSchema(resources)
  const prepare = instrument(watch(createPrepare(schema, domain)), run)
  const persisted = await readPersistedOperations(schema, settings.graphqlOperationsDir)
  const graphql = await createGraphQLServer({
    schema,
    domain,
    readBody: readJsonBody,
    introspection: settings.graphqlIntrospection,
    limits: { depth: settings.graphqlMaxDepth, cost: settings.graphqlMaxCost },
    documents: { persisted, persistedOnly: settings.graphqlPersistedOnly },
    reportFault,
    run,
  })
  const explorer = settings.graphqlExplorer ? [createExplorer(resources, persisted)] : []
  const metrics = settings.metrics ? createServiceMetrics(database, admission) : undefined
  return createApp({
    resources,
    prepare,
    settings: { ...settings, maximumPageSize },
    authenticate: authenticate(tokens, reportFault),
    graphql,
    reportFault,
    reportRequest(request) {
      reportRequest?.(request)
      metrics?.report(request)
    },
    isReady: createReadiness(() => database.client.$queryRaw`SELECT 1`, isStopping),
    overload: { isFull: () => admission.isFull, refusal: FULL },
    open: [...(metrics ? [metrics.serve] : []), ...explorer],
  })
}

function createAdmission({ concurrentOperations, waitingOperations, databaseTimeout }: Settings): Admission {
  return new Admission({
    concurrent: concurrentOperations,
    waiting: waitingOperations,
    deadline: databaseTimeout,
  })
}

function createServiceMetrics(database: Database, admission: Admission): Metrics {
  const operations = () => ({ running: admission.running, waiting: admission.waiting })
  return createMetrics({ pool: () => database.pool(), operations })
}

function listen(server: Server, { host, port }: Settings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
}

function originOf(server: Server): string {
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}
