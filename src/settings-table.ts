import { bool, EnvError, makeValidator, str } from 'envalid'

/**
 * Every setting of the service with its default and what it does, in the order of `.env.example`, which
 * repeats them and is compared with this table by a test. Besides these, NODE_ENV=production is read.
 */
export const settingsTable = {
  HOST: str({ default: '0.0.0.0', desc: 'Address to listen on; 127.0.0.1 for this machine only' }),
  PORT: integer(0, 65_535)({ default: 3000, desc: 'Port to listen on; 0 takes any free one' }),
  DATABASE_URL: databaseAddress()({
    default: undefined,
    desc: 'PostgreSQL server, postgresql://user:password@host:5432/name; unset: the embedded database',
  }),
  DATABASE_POOL_SIZE: integer(
    1,
    1000,
  )({ default: 10, desc: 'Connections kept to the database; embedded: 7 at most' }),
  DATA_DIR: str({ default: '.data', desc: 'Folder of the embedded database and of the development secret' }),
  EMBEDDED_FSYNC: bool({
    default: false,
    desc: 'The embedded database writes through to the disk: slower, but survives a power cut',
  }),
  API_NAMESPACE: matching(
    /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,64}$/,
    'one path segment of letters, digits and ._~-',
  )({
    default: 'api',
    desc: 'First segment of every path',
  }),
  API_VERSION: matching(
    /^v[1-9][0-9]*$/,
    'the letter v and a number, as in v1',
  )({
    default: 'v1',
    desc: 'Second segment of every path: v and a number',
  }),
  PUBLIC_BASE_URL: origin()({
    default: undefined,
    desc: "Origin put in links, as in https://api.example.org; unset: the request's host",
  }),
  TRUST_PROXY: bool({ default: false, desc: 'Believe the X-Forwarded headers of a proxy in front' }),
  JWT_SECRET: secret(32)({
    default: undefined,
    desc: 'Secret of HS256 tokens, 32 bytes or more; production needs it or JWT_JWKS_URL',
  }),
  JWT_JWKS_URL: webAddress()({
    default: undefined,
    desc: 'Address of the JSON Web Key Set that signs tokens (RS, ES, PS; not EdDSA)',
  }),
  JWKS_MAX_STALE_HOURS: integer(
    1,
    8760,
  )({ default: 24, desc: 'Hours the keys of JWT_JWKS_URL are used while they cannot be fetched again' }),
  JWT_ISSUER: str<string>({ default: undefined, desc: 'Required iss of tokens; unset: any' }),
  JWT_AUDIENCE: str<string>({ default: undefined, desc: 'Required aud of tokens; unset: any' }),
  MAX_PAGE_SIZE: integer(1, 10_000)({ default: 100, desc: 'Largest limit a list accepts' }),
  PLANET_REFERENCE: str({
    choices: ['stub', 'strict'] as const,
    default: 'stub',
    desc: 'An unknown planet_origin creates the planet (stub) or is refused (strict)',
  }),
  MIGRATE_ON_START: bool({
    default: false,
    desc: 'Migrate DATABASE_URL at start; the embedded database always is',
  }),
  LOG_LEVEL: str({
    choices: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const,
    default: 'info',
    desc: 'Least severe log entry to print: fatal, error, warn, info, debug, trace or silent',
  }),
  GRAPHQL_EXPLORER: bool({
    default: undefined,
    desc: 'Serve the GraphQL explorer to browsers; unset: outside production',
  }),
  GRAPHQL_INTROSPECTION: bool({
    default: undefined,
    desc: 'Answer what the GraphQL schema is; unset: outside production',
  }),
  GRAPHQL_MAX_DEPTH: integer(1, 100)({ default: 12, desc: 'Levels of fields a GraphQL operation may have' }),
  GRAPHQL_MAX_COST: integer(
    1,
    10_000_000,
  )({
    default: 20_000,
    desc: 'Cost of a GraphQL operation at most: objects, thousands of characters, 32 KiB of a table',
  }),
  GRAPHQL_OPERATIONS_DIR: str<string>({
    default: undefined,
    desc: 'Folder of the persisted GraphQL operations; unset: the ones that come with the service',
  }),
  GRAPHQL_PERSISTED_ONLY: bool({ default: false, desc: 'Refuse every other GraphQL operation' }),
  METRICS: bool({ default: false, desc: 'Serve Prometheus metrics at /metrics, to anyone who can reach it' }),
  SERVER_TIMING: bool({ default: false, desc: 'Tell in Server-Timing where the time of a request went' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: webAddress()({
    default: undefined,
    desc: 'OpenTelemetry collector that spans are sent to, as in http://localhost:4318; unset: none',
  }),
  WORKERS: integer(
    1,
    256,
  )({
    default: 1,
    desc: 'Processes that serve, with a pool and limits each; more than 1 needs DATABASE_URL',
  }),
  DATABASE_TIMEOUT: integer(
    100,
    600_000,
  )({ default: 2500, desc: 'Milliseconds a request may take in the database before it is answered 503' }),
  DATABASE_REPLICA_URLS: databaseAddresses()({
    default: undefined,
    desc: 'Read replicas of DATABASE_URL, separated by commas',
  }),
  REPLICA_LAG: integer(
    0,
    3_600_000,
  )({ default: 5000, desc: 'Milliseconds a caller who wrote reads from DATABASE_URL only' }),
  CONCURRENT_OPERATIONS: integer(
    1,
    10_000,
  )({ default: 64, desc: 'Requests that are worked on at the same time' }),
  WAITING_OPERATIONS: integer(
    0,
    100_000,
  )({ default: 256, desc: 'Requests that may wait for that; one more is answered 503' }),
  CALLER_SHARE: integer(
    1,
    100,
  )({ default: 50, desc: 'Percentage of these, and of RESPONSE_MEMORY, that one caller may use' }),
  RESPONSE_MEMORY: integer(
    1,
    100_000,
  )({ default: 16, desc: 'Megabytes of responses that are made or sent at once; more have to wait' }),
  KEEP_ALIVE_SECONDS: integer(
    1,
    3600,
  )({ default: 10, desc: 'Seconds an idle connection is kept; more than the proxy in front keeps its own' }),
  MAX_CONNECTIONS: integer(1, 100_000)({ default: 5000, desc: 'Connections of clients kept at once' }),
  RATE_LIMIT: integer(
    0,
    1_000_000,
  )({ default: 0, desc: 'Requests a minute of one caller before 429; 0: no limit' }),
  IDEMPOTENCY_KEY_HOURS: integer(1, 8760)({ default: 24, desc: 'Hours an Idempotency-Key is remembered' }),
  SHUTDOWN_SECONDS: integer(
    1,
    600,
  )({ default: 8, desc: 'Seconds that accepted requests have to finish once the service is told to stop' }),
}

function integer(least: number, most: number) {
  return makeValidator<number>((text) => {
    const value = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    throw new EnvError(`must be a whole number from ${least} to ${most}, not ${text}`)
  })
}

function matching(pattern: RegExp, form: string) {
  return makeValidator<string>((text) => {
    if (pattern.test(text)) return text
    throw new EnvError(`must be ${form}, not ${text}`)
  })
}

function secret(bytes: number) {
  return makeValidator<string>((text) => {
    if (Buffer.byteLength(text) >= bytes) return text
    throw new EnvError(`must be at least ${bytes} bytes long`)
  })
}

function databaseAddress() {
  return makeValidator<string>((text) => {
    if (isDatabaseAddress(text)) return text
    throw new EnvError('must have the form postgresql://user:password@host:5432/name')
  })
}

function databaseAddresses() {
  return makeValidator<readonly string[]>((text) => {
    const addresses = text.split(',').map((address) => address.trim())
    if (addresses.every(isDatabaseAddress)) return addresses
    throw new EnvError('must be addresses of the form postgresql://user:password@host:5432/name')
  })
}

function isDatabaseAddress(text: string): boolean {
  return URL.canParse(text) && ['postgresql:', 'postgres:'].includes(new URL(text).protocol)
}

function webAddress() {
  return makeValidator<string>((text) => {
    if (isWebAddress(text)) return text
    throw new EnvError('must be an http or https address')
  })
}

function origin() {
  return makeValidator<string>((text) => {
    const url = isWebAddress(text) ? new URL(text) : undefined
    if (url && url.href === `${url.origin}/`) return url.origin
    throw new EnvError('must be an origin without a path, as in https://api.example.org')
  })
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
}
