import { EnvError, makeValidator, type RequiredValidatorSpec, str } from 'envalid'
import { parseScopesMap, type ScopesMap } from '../../http/auth/role-scopes.ts'
import { API_VERSION_NAME } from '../../model/definition/domain.ts'
import { isIdentifier } from '../../model/rows/identifiers.ts'
import { requirementOfAddress } from './database-address.ts'

/**
 * Every setting with its form, its default (none: it may be unset) and its description, in the order of `.env.example`,
 * which a test compares with this table. NODE_ENV=production is read as well.
 */
export const settingsTable = {
  HOST: text('0.0.0.0', 'Address to listen on; 127.0.0.1 for this machine only'),
  PORT: integer(0, 65_535, 3000, 'Port to listen on; 0 takes any free one'),
  DOMAIN: optionalText('Folder of the domain to serve, see docs/DOMAINS.md; unset: the built-in one'),
  DATABASE_URL: databaseAddress(
    'PostgreSQL server, postgresql://user:password@host:5432/name; unset: the embedded database',
  ),
  DATABASE_POOL_SIZE: integer(1, 1000, 10, 'Database connections; at most 7 for the embedded database'),
  DATA_DIR: text('.data', 'Folder of the embedded database and of the development secret'),
  EMBEDDED_FSYNC: flag(false, 'Flush each commit of the embedded database: slower, but survives a power cut'),
  API_NAMESPACE: pathSegment('api', 'First segment of every path'),
  NAMESPACES: choice(
    ['one', 'many'],
    'one: that of API_NAMESPACE; many: also those that `halgraph namespace create` makes, needs DATABASE_URL',
  ),
  NAMESPACES_OPEN: integer(
    1,
    10_000,
    100,
    'Namespaces that are open at the same time, besides API_NAMESPACE',
  ),
  NAMESPACE_CLAIM: text(
    'namespaces',
    'Claim of a token that names its namespaces: a text or a list; * for all',
  ),
  API_VERSION: optional(
    (input) => API_VERSION_NAME.test(input),
    'be the letter v and a number, as in v1',
    'Version that pages show, the second segment of paths, as in v1; unset: the newest of the domain, or v1',
  ),
  PUBLIC_BASE_URL: addressWithPath(
    "Base URL of all links, as in https://example.org/catalogue; unset: the request's host",
  ),
  TRUST_PROXY: flag(false, 'Trust the X-Forwarded headers of a reverse proxy'),
  OIDC_ISSUER: webAddress(
    'OpenID provider whose users sign in to the pages, as its discovery names it; unset: none',
  ),
  OIDC_CLIENT_ID: optionalText('Client of the pages at OIDC_ISSUER: public, with code and PKCE'),
  OIDC_SCOPES: text('openid profile', 'Scopes that the pages ask OIDC_ISSUER for'),
  OIDC_AUDIENCE: optionalText('Audience that the pages ask OIDC_ISSUER for, if it needs one'),
  JWT_SECRET: secret(
    'Secret of HS256 tokens, 32 bytes or more; production needs it, JWT_JWKS_URL or OIDC_ISSUER',
  ),
  JWT_JWKS_URL: webAddress(
    'JSON Web Key Set that verifies tokens (RS, ES, PS, EdDSA); unset: that of OIDC_ISSUER',
  ),
  JWKS_MAX_STALE_HOURS: integer(1, 8760, 24, 'Hours to keep the keys while JWT_JWKS_URL does not respond'),
  JWT_ISSUER: optionalText('Required iss of tokens; unset: OIDC_ISSUER, or any'),
  JWT_AUDIENCE: optionalText('Required aud of tokens; unset: OIDC_AUDIENCE, OIDC_CLIENT_ID, or any'),
  JWT_LEEWAY_SECONDS: integer(0, 3600, 30, 'Seconds by which exp and nbf of tokens may be missed'),
  DEFAULT_SCOPE: optionalText('Scopes of a token without a scope claim, as in *:read; unset: none'),
  SCOPES_CLAIM: optionalText(
    'Claim of a token with roles or groups, as in realm_access.roles; unset: scopes come from scope, scopes and scp only',
  ),
  SCOPES_MAP: scopesMap(
    'Scopes of each role or group, {"editor":["*:read","species:write"]}; unset: the values of SCOPES_CLAIM are scopes',
  ),
  ANONYMOUS_SCOPES: optional(
    (input) => input.split(' ').every((scope) => scope === '' || ANONYMOUS_SCOPE.test(scope)),
    'be scopes as in species:read, separated by spaces; nothing can be written without a token',
    'Scopes of requests without a token, as in *:read; unset: each needs a token',
  ),
  MAX_PAGE_SIZE: integer(1, 10_000, 100, 'Largest limit that a list accepts'),
  COMPRESSION: flag(true, 'Compress bodies from 1 KiB for clients that accept br or gzip'),
  UNKNOWN_FIELDS: choice(['refuse', 'ignore'], 'Unknown fields in a request body: refuse or ignore'),
  MIGRATE_ON_START: flag(false, 'Migrate the database of DATABASE_URL at start; the embedded one always is'),
  LOG_LEVEL: choice(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'Lowest log level to print: fatal, error, warn, info, debug, trace or silent',
    'info',
  ),
  GRAPHQL_EXPLORER: optionalFlag('Serve the GraphQL explorer to browsers; unset: except in production'),
  GRAPHQL_INTROSPECTION: optionalFlag('Allow GraphQL introspection; unset: except in production'),
  GRAPHQL_MAX_DEPTH: integer(1, 100, 12, 'Maximum depth of a GraphQL operation'),
  GRAPHQL_MAX_COST: integer(
    1,
    10_000_000,
    20_000,
    'Maximum cost of a GraphQL operation; an object, 250 characters and 32 KiB of a table cost 1 each',
  ),
  GRAPHQL_OPERATIONS_DIR: optionalText('Folder of persisted GraphQL operations; unset: the bundled ones'),
  GRAPHQL_PERSISTED_ONLY: flag(false, 'Refuse GraphQL operations that are not persisted'),
  METRICS: flag(false, 'Serve Prometheus metrics at /metrics, without authentication'),
  METRICS_BY_NAMESPACE: flag(false, 'Tell the durations of requests apart by namespace'),
  SERVER_TIMING: flag(false, 'Send the Server-Timing header'),
  OTEL_EXPORTER_OTLP_ENDPOINT: webAddress(
    'OpenTelemetry collector to send spans to, as in http://localhost:4318; unset: none',
  ),
  WORKERS: integer(1, 256, 1, 'Processes, each with its own pool and limits; above 1 needs DATABASE_URL'),
  DATABASE_TIMEOUT: integer(100, 600_000, 2500, 'Milliseconds a request may take in the database; then 503'),
  DATABASE_START_SECONDS: integer(0, 3600, 10, 'Seconds to wait at start for an unreachable database'),
  DATABASE_REPLICA_URLS: databaseAddresses('Read replicas of DATABASE_URL, separated by commas'),
  REPLICA_LAG: integer(0, 3_600_000, 5000, 'Milliseconds a caller avoids replicas after a write'),
  REPLICA_POSITION: choice(
    ['required', 'optional'],
    'Replicas that report no replication position: required excludes them, optional counts them as current',
  ),
  LOAD_CAPACITY: integer(
    1,
    10_000,
    64,
    'Units of load at once: a read counts 1, a write 6, and 32 KiB of data 1; others wait',
  ),
  CALLER_SHARE: integer(
    1,
    10_000,
    8,
    'Units of load that one caller may use beside others; alone, half of LOAD_CAPACITY',
  ),
  KEEP_ALIVE_SECONDS: integer(1, 3600, 10, 'Seconds to keep an idle connection; longer than the proxy does'),
  MAX_CONNECTIONS: integer(1, 100_000, 5000, 'Maximum number of client connections'),
  RATE_LIMIT: integer(0, 1_000_000, 0, 'Requests that one caller may send per minute, then 429; 0: no limit'),
  IDEMPOTENCY_KEY_HOURS: integer(1, 8760, 24, 'Hours an Idempotency-Key is kept'),
  CHANGES_DAYS: integer(0, 36_500, 30, 'Days that changes of resources are kept; 0 records none'),
  SHUTDOWN_SECONDS: integer(1, 600, 5, 'Seconds that accepted requests have to finish at shutdown'),
}

/** All requests without a token are one caller, so its writes could not be told apart. */
const ANONYMOUS_SCOPE = /^[^\s:]+:(?!write$)[^\s:]+$/

function text(value: string, desc: string) {
  return str({ default: value, desc })
}

function optionalText(desc: string) {
  return str<string>({ default: undefined, desc })
}

function flag(value: boolean, desc: string) {
  return makeValidator<boolean>(truthOf)({ default: value, desc })
}

function optionalFlag(desc: string) {
  return makeValidator<boolean>(truthOf)<boolean>({ default: undefined, desc })
}

function truthOf(input: string): boolean {
  if (/^(true|t|yes|on|1)$/.test(input)) return true
  if (/^(false|f|no|off|0)$/.test(input)) return false
  throw new EnvError(`must be true or false, not ${input}`)
}

/** By default, the first choice. */
export function choice<const Choice extends string>(
  choices: readonly [Choice, ...Choice[]],
  desc: string,
  value: Choice = choices[0],
): RequiredValidatorSpec<Choice> {
  const check = (input: string) => {
    const chosen = choices.find((one) => one === input)
    if (chosen !== undefined) return chosen
    const alternatives = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(choices)
    throw new EnvError(`must be ${alternatives}, not ${input}`)
  }
  return makeValidator<Choice>(check)({ default: value, desc })
}

function integer(least: number, most: number, value: number, desc: string) {
  return makeValidator<number>((input) => {
    const number = /^[0-9]+$/.test(input) ? Number(input) : Number.NaN
    if (number >= least && number <= most) return number
    throw new EnvError(`must be a whole number from ${least} to ${most}, not ${input}`)
  })({ default: value, desc })
}

function pathSegment(value: string, desc: string) {
  return makeValidator<string>((input) => {
    if (isIdentifier(input)) return input
    throw new EnvError(`must be one path segment of letters, digits and ._~-, not ${input}`)
  })({ default: value, desc })
}

/** The message does not repeat the value, which may contain a secret. */
function optional(isValid: (input: string) => boolean, requirement: string, desc: string) {
  return makeValidator<string>((input) => {
    if (isValid(input)) return input
    throw new EnvError(`must ${requirement}`)
  })<string>({ default: undefined, desc })
}

function scopesMap(desc: string) {
  return makeValidator<ScopesMap>((input) => {
    const map = parseScopesMap(input)
    if (map) return map
    throw new EnvError(
      'must be a JSON object with a list of scopes for each value, as in {"editor":["species:read"]}',
    )
  })<ScopesMap>({ default: undefined, desc })
}

function secret(desc: string) {
  return optional((input) => Buffer.byteLength(input) >= 32, 'be at least 32 bytes long', desc)
}

function webAddress(desc: string) {
  return optional(isWebAddress, 'be an http or https address', desc)
}

function databaseAddress(desc: string) {
  return makeValidator<string>(checkedAddress)<string>({ default: undefined, desc })
}

function databaseAddresses(desc: string) {
  return makeValidator<readonly string[]>((input) => {
    const addresses = input.split(',').map((address) => address.trim())
    if (addresses.every((address) => address.includes('://'))) return addresses.map(checkedAddress)
    throw new EnvError('must be addresses separated by commas, each with one host')
  })<readonly string[]>({ default: undefined, desc })
}

function checkedAddress(address: string): string {
  const requirement = requirementOfAddress(address)
  if (requirement === undefined) return address
  throw new EnvError(`must ${requirement}`)
}

function addressWithPath(desc: string) {
  return makeValidator<string>((input) => {
    const url = isWebAddress(input) ? new URL(input) : undefined
    if (url && url.href === url.origin + url.pathname) return url.href.replace(/(?<!\/)\/+$/, '')
    throw new EnvError('must be an origin, perhaps with a path, as in https://example.org/catalogue')
  })<string>({ default: undefined, desc })
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
}
