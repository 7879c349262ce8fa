import type { Database } from '../database/database.ts'
import { type DatabaseOptions, openDatabase } from '../database/open-database.ts'
import { openReaders, type Readers } from '../database/replicas/readers.ts'
import { startKeyExpiry } from '../domain/idempotency.ts'
import { createHttpServer } from '../http/server.ts'
import type { Domain } from '../model/domain.ts'
import { servedVersions } from '../model/versions/versions.ts'
import { basePath } from '../rest/urls.ts'
import type { CreateApplication, ServiceParts } from './application.ts'
import { listen } from './listen.ts'
import { databaseOptions } from './settings/configuration.ts'
import { type Settings, SettingsError } from './settings/settings.ts'

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
   * @param hasLeft called when it no longer listens; no response is sent until it resolves
   * @returns whether everything was answered before the deadline of the settings
   */
  close(hasLeft?: () => Promise<void>): Promise<boolean>
}

/** After an announced stop, an idle connection is kept for so long: its client may just have sent a request. */
const IDLE_MILLISECONDS = 1_000

/**
 * Starts the service: database, domain, GraphQL, REST, each knowing only those before it. While the database opens,
 * most modules are loaded.
 *
 * @throws {DatabaseRefusedError} when the database cannot be used
 * @throws {DefinitionError} when the Prisma client does not fit the definitions
 * @throws {SettingsError} when the domain has no version API_VERSION, it cannot listen on HOST and PORT, or an
 *   operation of GRAPHQL_OPERATIONS_DIR is not valid
 */
export async function startService(parts: ServiceParts): Promise<Service> {
  const { settings, domain } = parts
  const base = basePath({ namespace: settings.namespace, version: shownVersion(domain, settings) })
  const options = databaseOptions(parts, parts.reportWait)
  let preparing: Promise<CreateApplication> | undefined
  const prepare = () =>
    (preparing ??= import('./application.ts').then(({ prepareApplication }) => prepareApplication(parts)))
  // A database that is refused is reported first.
  const database = await openDatabase(options, () => void prepare().catch(() => {}))
  const state = { isStopping: false, refusedConnections: 0 }
  let idleTimeout = 0
  const announceStop = () => {
    state.isStopping = true
    idleTimeout = IDLE_MILLISECONDS
  }
  try {
    const readers = await openReadersOf(parts, database, options)
    const createApplication = await prepare()
    const handler = await createApplication(database, readers, state)
    const { server, drain } = createHttpServer(handler, {
      ...settings,
      isStopping: () => state.isStopping,
    })
    server.on('drop', () => {
      state.refusedConnections++
    })
    const origin = await listen(server, settings)
    const stopKeyExpiry = startKeyExpiry(database.client, settings.idempotencyKeyHours)
    const close = async (hasLeft = async () => {}) => {
      state.isStopping = true
      stopKeyExpiry()
      const inTime = await drain(settings.shutdownSeconds * 1000, idleTimeout, hasLeft)
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

async function openReadersOf(
  { settings, tokens: { jwt }, reportReplicas: report }: ServiceParts,
  database: Database,
  { tables }: DatabaseOptions,
): Promise<Readers> {
  const { PrismaClient } = await tables()
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
