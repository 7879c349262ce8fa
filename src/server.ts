import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Database, type DatabaseOptions, openDatabase } from './domain/database/open-database.ts'
import { resources } from './domain/resources/index.ts'
import { createGraphQLServer } from './graph/apollo.ts'
import type { DomainContext } from './graph/context.ts'
import { createPrepare, type Prepare } from './graph/operation.ts'
import { createSchema } from './graph/schema.ts'
import { createApp } from './rest/app.ts'
import { authenticate, type TokenSettings } from './rest/authenticate.ts'
import { readJsonBody } from './rest/body.ts'
import type { Settings } from './settings.ts'

/** What the service is started with: its settings, how tokens are verified, and who hears of faults. */
export interface ServiceParts {
  readonly settings: Settings
  readonly tokens: TokenSettings
  /** Told of every fault, with the id of the request where there is one. */
  readonly reportFault: (error: unknown, requestId?: string) => void
  /** Wraps the preparation of the operations that REST runs, so that they can be watched. */
  readonly watch?: (prepare: Prepare) => Prepare
}

/** A running service. */
export interface Service {
  /** Where it listens: `http://127.0.0.1:3000`. */
  readonly origin: string
  readonly database: Database
  /** Answers what was accepted, then ends all connections and closes the database. */
  close(): Promise<void>
}

/**
 * Starts the service: database, domain, GraphQL, REST, in this order, each knowing only those before it.
 *
 * @throws {DatabaseRefusedError} when the database cannot be used
 */
export async function startService(parts: ServiceParts): Promise<Service> {
  const database = await openDatabase(databaseOptions(parts.settings))
  try {
    const server = await listen(await createApplication(parts, database), parts.settings)
    return { origin: originOf(server), database, close: () => close(server, database) }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** The part of the settings that says which database to open. */
export function databaseOptions(settings: Settings): DatabaseOptions {
  const { databaseUrl, dataDir, migrateOnStart, databasePoolSize: poolSize } = settings
  return { databaseUrl, dataDir, migrateOnStart, poolSize }
}

async function createApplication({ settings, tokens, reportFault, watch }: ServiceParts, database: Database) {
  const { maxPageSize: maximumPageSize, planetReference, production } = settings
  const domain: DomainContext = { client: database.client, planetReference, maximumPageSize }
  const schema = createSchema(resources)
  const prepare = createPrepare(schema, domain)
  const graphql = await createGraphQLServer({
    schema,
    domain,
    readBody: readJsonBody,
    introspection: !production,
    reportFault,
  })
  return createApp({
    resources,
    prepare: watch ? watch(prepare) : prepare,
    settings: { ...settings, maximumPageSize },
    authenticate: authenticate(tokens),
    graphql,
    reportFault,
  }).callback()
}

function listen(handler: Parameters<typeof createServer>[1], { host, port }: Settings): Promise<Server> {
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, handler)
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve(server))
  })
}

function originOf(server: Server): string {
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

async function close(server: Server, database: Database): Promise<void> {
  await new Promise((resolve) => {
    server.close(resolve)
    server.closeIdleConnections()
  })
  await database.close()
}
