import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { retryPatiently } from '../database/connection.ts'
import { openDatabase } from '../database/database.ts'
import { lackOfParts, refuseDamaged } from '../database/migrations/parts.ts'
import { createSharedPools } from '../database/namespaces/shared-pools.ts'
import { openReaders } from '../database/replicas/readers.ts'
import { startKeyExpiry } from '../domain/idempotency.ts'
import { createHttpServer } from '../http/server.ts'
import { type Domain, servedApiVersions } from '../model/definition/domain.ts'
import { isUnavailable } from '../model/errors.ts'
import { basePath } from '../rest/urls.ts'
import type { Patiently, ServiceParts } from './application.ts'
import { createNamespaces } from './namespaces/namespaces.ts'
import { databaseOptions } from './settings/configuration.ts'
import { type Settings, SettingsError } from './settings/settings.ts'

export type Service = Awaited<ReturnType<typeof startService>>

/** How long an announced stop keeps an idle connection: a request may be on its way. */
const IDLE_MILLISECONDS = 1_000

/**
 * Starts the service. Most modules are loaded while the database opens.
 *
 * @throws {DatabaseRefusedError} when the database cannot be used
 * @throws {DefinitionError} when the Prisma client does not fit the definitions
 * @throws {SettingsError} for an unknown API_VERSION, a HOST and PORT in use, or an invalid persisted operation
 */
export async function startService(parts: ServiceParts) {
  const { settings, domain } = parts
  const version = shownApiVersion(domain, settings)
  const base = basePath({ namespace: settings.namespace, apiVersion: version })
  const pools = settings.namespaces === 'many' ? createSharedPools(settings) : undefined
  const options = { ...databaseOptions(parts, parts.reportWait), ...(pools && { poolOf: pools.poolOf }) }
  const opening = (parts.open ?? openDatabase)(options)
  const preparing = import('./application.ts').then(({ prepareApplication }) => prepareApplication(parts))
  // If the database is refused too, that is reported instead.
  preparing.catch(() => {})
  const database = await opening
  const state = { isStopping: false, refusedConnections: 0 }
  try {
    await refuseDamaged(database.pool)
    const { PrismaClient } = await options.tables()
    const replicaOptions = { ...settings, report: parts.reportReplicas }
    const readers =
      settings.databaseReplicaUrls.length > 0
        ? await openReaders(database, { ...settings, PrismaClient }, replicaOptions)
        : undefined
    const createApplication = await preparing
    const patiently: Patiently = (work) => retryPatiently(options.patience, isUnavailable, work)
    const namespaces = pools && createNamespaces(parts, database, version, pools)
    const application = await createApplication(database, readers, state, patiently, namespaces)
    namespaces?.startWith(application.open)
    const http = createHttpServer(application.handler, settings, state)
    const { server } = http
    // Node's cluster closes the server of a worker. It goes on until `drain`, which closes it between two connections.
    server.close = (done = () => {}) => server.once('close', done)
    server.on('drop', () => state.refusedConnections++)
    const origin = await listen(server, settings)
    const stopExpiry = startKeyExpiry(database.client, settings.idempotencyKeyHours)
    const stopUpkeep = [stopExpiry, application.stop, ...(namespaces ? [namespaces.stop] : [])]
    let draining: Promise<boolean> | undefined
    /**
     * Completes accepted requests and ends all connections. Has an effect once.
     *
     * @param othersListen whether other processes accept the connections to come; if so, stops listening at once
     * @returns whether all requests were completed within SHUTDOWN_SECONDS
     */
    const drain = (othersListen = false) => {
      const idleTimeout = state.isStopping ? IDLE_MILLISECONDS : 0
      state.isStopping = true
      for (const stop of stopUpkeep.splice(0)) stop()
      draining ??= http.drain(settings.shutdownSeconds * 1000, idleTimeout, othersListen)
      return draining
    }
    return {
      /** `http://127.0.0.1:3000` */
      origin,
      /** The entry document of the version shown by pages and examples: `http://127.0.0.1:3000/api/v1`. */
      base: origin + base,
      database,
      /** Turns readiness off, and ends each connection after its next response. Requests are still accepted. */
      announceStop() {
        state.isStopping = true
      },
      drain,
      /** Drains, then closes the database. */
      async close(): Promise<void> {
        await drain()
        await readers?.close()
        await namespaces?.close()
        await database.close()
        await pools?.end()
      },
    }
  } catch (error) {
    await database.close()
    await pools?.end()
    throw lackOfParts(error)
  }
}

function shownApiVersion(domain: Domain, { apiVersion }: Settings): string {
  const { versions, shown } = servedApiVersions(domain, apiVersion)
  const names = versions.map(({ name }) => name)
  if (names.includes(shown)) return shown
  throw new SettingsError([`API_VERSION: the domain has the versions ${names.join(', ')}, not ${shown}`])
}

/** Resolves to the origin on this machine. */
function listen(server: Server, { host, port }: Settings): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new SettingsError([listenProblem(error, host, port)])))
    server.listen(port, host, () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  })
}

function listenProblem({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `PORT: ${port} is in use on ${host}; stop the program that uses it, or set another PORT`
    case 'EACCES':
      return `PORT: no permission to use ${port}; set a PORT of 1024 or higher`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST: ${host} is not an address of this machine; set another HOST, such as 0.0.0.0`
    default:
      return `HOST and PORT: cannot listen on ${host}, port ${port}: ${message}`
  }
}
