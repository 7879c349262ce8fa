import { existsSync } from 'node:fs'
import { cleanEnv } from 'envalid'
import { settingsTable } from './settings-table.ts'

/** How access tokens are verified. `development`: with a random secret that is kept in the data folder. */
export type TokenKind =
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'jwks'; readonly url: string; readonly maximumStaleHours: number }
  | { readonly kind: 'development' }

/** The settings of the service, read from the environment and checked. */
export interface Settings {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** A PostgreSQL server; undefined means the embedded database. */
  readonly databaseUrl: string | undefined
  readonly databasePoolSize: number
  readonly dataDir: string
  /** Whether the embedded database has a commit on the disk before it is acknowledged. */
  readonly embeddedFsync: boolean
  /** The first segment of every path. */
  readonly namespace: string
  /** The second segment of every path, `v` and a number (SPEC §9). */
  readonly version: string
  /** The origin put in links, without a path or a trailing slash; undefined means the request's host. */
  readonly publicBaseUrl: string | undefined
  readonly trustProxy: boolean
  readonly jwt: TokenKind
  readonly jwtIssuer: string | undefined
  readonly jwtAudience: string | undefined
  readonly maxPageSize: number
  readonly planetReference: 'stub' | 'strict'
  /** Always true for the embedded database. */
  readonly migrateOnStart: boolean
  readonly logLevel: string
  /** Whether browsers are served the GraphQL explorer. */
  readonly graphqlExplorer: boolean
  /** Whether callers may ask what the GraphQL schema is. */
  readonly graphqlIntrospection: boolean
  /** Levels of fields that a GraphQL operation may have. */
  readonly graphqlMaxDepth: number
  /** What a GraphQL operation may cost at most. */
  readonly graphqlMaxCost: number
  /** Folder of the persisted operations; undefined for those that come with the service. */
  readonly graphqlOperationsDir: string | undefined
  /** Whether only persisted operations may be run. */
  readonly graphqlPersistedOnly: boolean
  /** Whether /metrics is served. */
  readonly metrics: boolean
  /** Whether answers tell in Server-Timing where the time went. */
  readonly serverTiming: boolean
  /** Where spans are sent; undefined for nowhere. */
  readonly traceEndpoint: string | undefined
  /** Processes that serve; 1 with the embedded database. */
  readonly workers: number
  /** In milliseconds: how long a request may take in the database. */
  readonly databaseTimeout: number
  readonly databaseReplicaUrls: readonly string[]
  /** In milliseconds: how long a caller who wrote is kept off the replicas. */
  readonly replicaLag: number
  readonly concurrentOperations: number
  readonly waitingOperations: number
  /** In percent: the part of the capacity that one caller may use. */
  readonly callerShare: number
  /** In megabytes: responses that are made or sent at the same time. */
  readonly responseMemory: number
  readonly keepAliveSeconds: number
  readonly maximumConnections: number
  /** Requests a minute of one caller; 0 for any number. */
  readonly rateLimit: number
  readonly idempotencyKeyHours: number
  readonly shutdownSeconds: number
  readonly production: boolean
}

/** Settings that cannot be used: one line for each problem, for the person who starts the service. */
export class SettingsError extends Error {
  override name = 'SettingsError'

  constructor(readonly problems: readonly string[]) {
    super(`The settings cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
  }
}

/**
 * Reads the settings from an environment. An empty value counts as unset.
 *
 * @throws SettingsError listing every problem at once. It repeats no secret and no address, which may hold one.
 */
export function readSettings(environment: NodeJS.ProcessEnv): Settings {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const problems: string[] = []
  const values = cleanEnv(given, settingsTable, {
    reporter: ({ errors }) => {
      for (const [name, error] of Object.entries(errors)) problems.push(`${name}: ${error?.message}`)
    },
  })
  const production = given['NODE_ENV'] === 'production'
  problems.push(...tokenProblems(given, production))
  if (values.WORKERS > 1 && values.DATABASE_URL === undefined) {
    problems.push('WORKERS: the embedded database serves one process; more of them need DATABASE_URL')
  }
  if (problems.length > 0) throw new SettingsError(problems)
  return {
    host: values.HOST,
    port: values.PORT,
    databaseUrl: values.DATABASE_URL,
    databasePoolSize: values.DATABASE_POOL_SIZE,
    dataDir: values.DATA_DIR,
    embeddedFsync: values.EMBEDDED_FSYNC,
    namespace: values.API_NAMESPACE,
    version: values.API_VERSION,
    publicBaseUrl: values.PUBLIC_BASE_URL,
    trustProxy: values.TRUST_PROXY,
    jwt: tokenKind(values.JWT_SECRET, values.JWT_JWKS_URL, values.JWKS_MAX_STALE_HOURS),
    jwtIssuer: values.JWT_ISSUER,
    jwtAudience: values.JWT_AUDIENCE,
    maxPageSize: values.MAX_PAGE_SIZE,
    planetReference: values.PLANET_REFERENCE,
    migrateOnStart: values.DATABASE_URL === undefined || values.MIGRATE_ON_START,
    logLevel: values.LOG_LEVEL,
    graphqlExplorer: values.GRAPHQL_EXPLORER ?? !production,
    graphqlIntrospection: values.GRAPHQL_INTROSPECTION ?? !production,
    graphqlMaxDepth: values.GRAPHQL_MAX_DEPTH,
    graphqlMaxCost: values.GRAPHQL_MAX_COST,
    graphqlOperationsDir: values.GRAPHQL_OPERATIONS_DIR,
    graphqlPersistedOnly: values.GRAPHQL_PERSISTED_ONLY,
    metrics: values.METRICS,
    serverTiming: values.SERVER_TIMING,
    traceEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
    workers: values.WORKERS,
    databaseTimeout: values.DATABASE_TIMEOUT,
    databaseReplicaUrls: values.DATABASE_REPLICA_URLS ?? [],
    replicaLag: values.REPLICA_LAG,
    concurrentOperations: values.CONCURRENT_OPERATIONS,
    waitingOperations: values.WAITING_OPERATIONS,
    callerShare: values.CALLER_SHARE,
    responseMemory: values.RESPONSE_MEMORY,
    keepAliveSeconds: values.KEEP_ALIVE_SECONDS,
    maximumConnections: values.MAX_CONNECTIONS,
    rateLimit: values.RATE_LIMIT,
    idempotencyKeyHours: values.IDEMPOTENCY_KEY_HOURS,
    shutdownSeconds: values.SHUTDOWN_SECONDS,
    production,
  }
}

/** Adds the `.env` file of the working folder, if there is one, to what the environment does not set. */
export function loadEnvironment(): void {
  if (existsSync('.env')) process.loadEnvFile('.env')
}

function tokenProblems(given: NodeJS.ProcessEnv, production: boolean): string[] {
  const secret = given['JWT_SECRET'] !== undefined
  const keySet = given['JWT_JWKS_URL'] !== undefined
  if (secret && keySet) return ['JWT_SECRET and JWT_JWKS_URL: set one of them, not both']
  if (production && !secret && !keySet)
    return ['JWT_SECRET or JWT_JWKS_URL: one of them is required in production']
  return []
}

function tokenKind(
  secret: string | undefined,
  url: string | undefined,
  maximumStaleHours: number,
): TokenKind {
  if (secret !== undefined) return { kind: 'secret', secret }
  if (url !== undefined) return { kind: 'jwks', url, maximumStaleHours }
  return { kind: 'development' }
}
