import { readFile } from 'node:fs/promises'
import test from 'ava'
import { decodeJwt } from 'jose'
import {
  readSettings,
  type Settings,
  SettingsError,
  settingsWarnings,
} from '../../src/service/settings/settings.ts'
import { settingsTable } from '../../src/service/settings/settings-table.ts'
import { introduce } from '../../src/service/start/introduction.ts'
import { domain } from '../helpers/domain/domain.ts'
import { scopedDomain } from '../helpers/domain/scoped-domain.ts'
import { withSecret } from '../helpers/service/tokens.ts'

const secret = 'x'.repeat(32)

const problemsOf = (environment: NodeJS.ProcessEnv): readonly string[] => {
  try {
    readSettings(environment)
    return []
  } catch (error) {
    if (error instanceof SettingsError) return error.problems
    throw error
  }
}

test('an empty environment gives the defaults', (t) => {
  t.deepEqual(readSettings({}), {
    host: '0.0.0.0',
    port: 3000,
    databaseUrl: undefined,
    databasePoolSize: 10,
    dataDir: '.data',
    embeddedFsync: false,
    namespace: 'api',
    namespaces: 'one',
    namespacesOpen: 100,
    namespaceClaim: 'namespaces',
    apiVersion: undefined,
    publicBaseUrl: undefined,
    trustProxy: false,
    oidcIssuer: undefined,
    oidcClientId: undefined,
    oidcScopes: 'openid profile',
    oidcAudience: undefined,
    jwt: { kind: 'development' },
    jwtIssuer: undefined,
    jwtAudience: undefined,
    jwtLeewaySeconds: 30,
    defaultScope: undefined,
    scopesClaim: undefined,
    scopesMap: undefined,
    anonymousScopes: undefined,
    maximumPageSize: 100,
    unknownFields: 'refuse',
    compression: true,
    migrateOnStart: true,
    logLevel: 'info',
    graphqlExplorer: true,
    graphqlIntrospection: true,
    graphqlMaxDepth: 12,
    graphqlMaxCost: 20000,
    graphqlOperationsDir: undefined,
    graphqlPersistedOnly: false,
    metrics: false,
    metricsByNamespace: false,
    serverTiming: false,
    traceEndpoint: undefined,
    workers: 1,
    databaseTimeout: 2500,
    databaseStartSeconds: 10,
    databaseReplicaUrls: [],
    replicaLag: 5000,
    replicaPosition: 'required',
    loadCapacity: 64,
    callerShare: 8,
    keepAliveSeconds: 10,
    maximumConnections: 5000,
    rateLimit: 0,
    idempotencyKeyHours: 24,
    changesDays: 30,
    shutdownSeconds: 5,
    domain: undefined,
    ruleSettings: {},
  } satisfies Settings)
})

test('an empty value counts as unset', (t) => {
  const empty = Object.fromEntries(Object.keys(settingsTable).map((name) => [name, '']))
  t.deepEqual(readSettings(empty), readSettings({}))
})

test('every setting is read', (t) => {
  const settings = readSettings({
    HOST: '::1',
    PORT: '0',
    DATABASE_URL: 'postgres://me@localhost/x?schema=y',
    DATABASE_POOL_SIZE: '3',
    DATA_DIR: '/var/lib/halgraph',
    EMBEDDED_FSYNC: 'true',
    API_NAMESPACE: 'galaxy',
    NAMESPACES: 'one',
    NAMESPACES_OPEN: '7',
    NAMESPACE_CLAIM: 'tenants',
    API_VERSION: 'v12',
    PUBLIC_BASE_URL: 'https://API.example.org:443/catalogue/',
    TRUST_PROXY: 'true',
    OIDC_ISSUER: 'https://id.example.org',
    OIDC_CLIENT_ID: 'pages',
    OIDC_SCOPES: 'openid offline_access',
    OIDC_AUDIENCE: 'catalogue',
    JWT_JWKS_URL: 'https://id.example.org/keys',
    JWKS_MAX_STALE_HOURS: '12',
    JWT_ISSUER: 'https://id.example.org',
    JWT_AUDIENCE: 'halgraph',
    JWT_LEEWAY_SECONDS: '5',
    DEFAULT_SCOPE: '*:read',
    SCOPES_CLAIM: 'realm_access.roles',
    SCOPES_MAP: '{"editor":["species:read","species:write"]}',
    ANONYMOUS_SCOPES: 'planets:read species:read',
    MAX_PAGE_SIZE: '500',
    DOMAIN: './library',
    COMPRESSION: 'false',
    UNKNOWN_FIELDS: 'ignore',
    MIGRATE_ON_START: 'yes',
    LOG_LEVEL: 'silent',
    GRAPHQL_EXPLORER: 'true',
    GRAPHQL_INTROSPECTION: 'false',
    GRAPHQL_MAX_DEPTH: '8',
    GRAPHQL_MAX_COST: '500',
    GRAPHQL_OPERATIONS_DIR: '/etc/halgraph/operations',
    GRAPHQL_PERSISTED_ONLY: 'true',
    METRICS: 'true',
    METRICS_BY_NAMESPACE: 'true',
    SERVER_TIMING: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318',
    WORKERS: '4',
    DATABASE_TIMEOUT: '900',
    DATABASE_START_SECONDS: '60',
    DATABASE_REPLICA_URLS: 'postgresql://a/x, postgresql://b/x',
    REPLICA_LAG: '1000',
    REPLICA_POSITION: 'optional',
    LOAD_CAPACITY: '32',
    CALLER_SHARE: '4',
    KEEP_ALIVE_SECONDS: '70',
    MAX_CONNECTIONS: '10',
    RATE_LIMIT: '600',
    IDEMPOTENCY_KEY_HOURS: '48',
    CHANGES_DAYS: '0',
    SHUTDOWN_SECONDS: '20',
    NODE_ENV: 'production',
  })
  t.deepEqual(settings, {
    host: '::1',
    port: 0,
    databaseUrl: 'postgres://me@localhost/x?schema=y',
    databasePoolSize: 3,
    dataDir: '/var/lib/halgraph',
    embeddedFsync: true,
    namespace: 'galaxy',
    namespaces: 'one',
    namespacesOpen: 7,
    namespaceClaim: 'tenants',
    apiVersion: 'v12',
    publicBaseUrl: 'https://api.example.org/catalogue',
    trustProxy: true,
    oidcIssuer: 'https://id.example.org',
    oidcClientId: 'pages',
    oidcScopes: 'openid offline_access',
    oidcAudience: 'catalogue',
    jwt: { kind: 'jwks', url: 'https://id.example.org/keys', maximumStaleHours: 12 },
    jwtIssuer: 'https://id.example.org',
    jwtAudience: 'halgraph',
    jwtLeewaySeconds: 5,
    defaultScope: '*:read',
    scopesClaim: 'realm_access.roles',
    scopesMap: { editor: ['species:read', 'species:write'] },
    anonymousScopes: 'planets:read species:read',
    maximumPageSize: 500,
    unknownFields: 'ignore',
    compression: false,
    migrateOnStart: true,
    logLevel: 'silent',
    graphqlExplorer: true,
    graphqlIntrospection: false,
    graphqlMaxDepth: 8,
    graphqlMaxCost: 500,
    graphqlOperationsDir: '/etc/halgraph/operations',
    graphqlPersistedOnly: true,
    metrics: true,
    metricsByNamespace: true,
    serverTiming: true,
    traceEndpoint: 'http://localhost:4318',
    workers: 4,
    databaseTimeout: 900,
    databaseStartSeconds: 60,
    databaseReplicaUrls: ['postgresql://a/x', 'postgresql://b/x'],
    replicaLag: 1000,
    replicaPosition: 'optional',
    loadCapacity: 32,
    callerShare: 4,
    keepAliveSeconds: 70,
    maximumConnections: 10,
    rateLimit: 600,
    idempotencyKeyHours: 48,
    changesDays: 0,
    shutdownSeconds: 20,
    domain: './library',
    ruleSettings: {},
  } satisfies Settings)
})

test('GraphQL explorer and introspection are off in production by default', (t) => {
  const production = readSettings({ NODE_ENV: 'production', JWT_SECRET: secret })
  t.like(production, { graphqlExplorer: false, graphqlIntrospection: false })
  const told = readSettings({ NODE_ENV: 'production', JWT_SECRET: secret, GRAPHQL_INTROSPECTION: 'true' })
  t.like(told, { graphqlExplorer: false, graphqlIntrospection: true })
})

test('only the embedded database is migrated at start by default', (t) => {
  t.true(readSettings({ MIGRATE_ON_START: 'false' }).migrateOnStart)
  t.false(readSettings({ DATABASE_URL: 'postgresql://localhost/x' }).migrateOnStart)
})

test('the embedded database serves one process', (t) => {
  const error = t.throws(() => readSettings({ WORKERS: '2' }), { instanceOf: SettingsError })
  t.regex(error?.problems.join() ?? '', /^WORKERS: .*DATABASE_URL/)
})

test('many namespaces need a server, no replicas, and a first one whose name they can have', (t) => {
  const problems = (variables: NodeJS.ProcessEnv) =>
    t.throws(() => readSettings({ NAMESPACES: 'many', ...variables }), { instanceOf: SettingsError })
      ?.problems
  t.regex(String(problems({})), /^NAMESPACES: .*embedded database.*DATABASE_URL/)
  const url = 'postgresql://localhost/x'
  t.regex(
    String(problems({ DATABASE_URL: url, DATABASE_REPLICA_URLS: url })),
    /^NAMESPACES: .*DATABASE_REPLICA_URLS/,
  )
  for (const name of ['Api', 'a_b', '1a', 'health', 'a'.repeat(49)])
    t.regex(String(problems({ DATABASE_URL: url, API_NAMESPACE: name })), /^API_NAMESPACE: /)
  t.is(readSettings({ NAMESPACES: 'many', DATABASE_URL: url }).namespaces, 'many')
})

for (const [name, values] of Object.entries({
  PORT: ['65536', '-1', '80a', '1.5'],
  DATABASE_URL: ['mysql://localhost/x', 'localhost'],
  DATABASE_POOL_SIZE: ['0'],
  API_NAMESPACE: ['a/b', '..', 'ä'],
  API_VERSION: ['1', 'v0', 'v01', 'V1', 'v1.1'],
  PUBLIC_BASE_URL: ['example.org', 'https://example.org?x', 'https://me:pw@example.org'],
  TRUST_PROXY: ['maybe'],
  JWT_SECRET: ['x'.repeat(31)],
  JWT_JWKS_URL: ['file:///etc/keys', 'keys'],
  MAX_PAGE_SIZE: ['0', '1e3'],
  UNKNOWN_FIELDS: ['drop'],
  MIGRATE_ON_START: ['2'],
  LOG_LEVEL: ['loud'],
})) {
  test(`a bad ${name} is a problem that names it`, (t) => {
    for (const value of values) {
      const problems = problemsOf({ [name]: value })
      t.is(problems.length, 1, value)
      t.true(problems[0]?.startsWith(`${name}: `))
    }
  })
}

test('an invalid value of any setting leaves the other problems visible', (t) => {
  for (const name of ['WORKERS', 'DATABASE_URL', 'JWT_SECRET', 'JWT_JWKS_URL', 'PORT']) {
    const problems = problemsOf({ MAX_PAGE_SIZE: 'x', WORKERS: '2', [name]: 'x' }).join('\n')
    t.regex(problems, /^MAX_PAGE_SIZE: /m)
    t.regex(problems, new RegExp(`^${name}: `, 'm'))
  }
  t.deepEqual(problemsOf({ WORKERS: 'x' }), ['WORKERS: must be a whole number from 1 to 256, not x'])
})

test('each setting says which values it accepts', (t) => {
  t.deepEqual(problemsOf(Object.fromEntries(Object.keys(settingsTable).map((name) => [name, '-1']))), [
    'PORT: must be a whole number from 0 to 65535, not -1',
    'DATABASE_URL: must have the form postgresql://user:password@host:5432/name',
    'DATABASE_POOL_SIZE: must be a whole number from 1 to 1000, not -1',
    'EMBEDDED_FSYNC: must be true or false, not -1',
    'NAMESPACES: must be one or many, not -1',
    'NAMESPACES_OPEN: must be a whole number from 1 to 10000, not -1',
    'API_VERSION: must be the letter v and a number, as in v1',
    'PUBLIC_BASE_URL: must be an origin, perhaps with a path, as in https://example.org/catalogue',
    'TRUST_PROXY: must be true or false, not -1',
    'OIDC_ISSUER: must be an http or https address',
    'JWT_SECRET: must be at least 32 bytes long',
    'JWT_JWKS_URL: must be an http or https address',
    'JWKS_MAX_STALE_HOURS: must be a whole number from 1 to 8760, not -1',
    'JWT_LEEWAY_SECONDS: must be a whole number from 0 to 3600, not -1',
    'SCOPES_MAP: must be a JSON object with a list of scopes for each value, as in {"editor":["species:read"]}',
    'ANONYMOUS_SCOPES: must be scopes as in species:read, separated by spaces; nothing can be written without a token',
    'MAX_PAGE_SIZE: must be a whole number from 1 to 10000, not -1',
    'COMPRESSION: must be true or false, not -1',
    'UNKNOWN_FIELDS: must be refuse or ignore, not -1',
    'MIGRATE_ON_START: must be true or false, not -1',
    'LOG_LEVEL: must be fatal, error, warn, info, debug, trace or silent, not -1',
    'GRAPHQL_EXPLORER: must be true or false, not -1',
    'GRAPHQL_INTROSPECTION: must be true or false, not -1',
    'GRAPHQL_MAX_DEPTH: must be a whole number from 1 to 100, not -1',
    'GRAPHQL_MAX_COST: must be a whole number from 1 to 10000000, not -1',
    'GRAPHQL_PERSISTED_ONLY: must be true or false, not -1',
    'METRICS: must be true or false, not -1',
    'METRICS_BY_NAMESPACE: must be true or false, not -1',
    'SERVER_TIMING: must be true or false, not -1',
    'OTEL_EXPORTER_OTLP_ENDPOINT: must be an http or https address',
    'WORKERS: must be a whole number from 1 to 256, not -1',
    'DATABASE_TIMEOUT: must be a whole number from 100 to 600000, not -1',
    'DATABASE_START_SECONDS: must be a whole number from 0 to 3600, not -1',
    'DATABASE_REPLICA_URLS: must be addresses separated by commas, each with one host',
    'REPLICA_LAG: must be a whole number from 0 to 3600000, not -1',
    'REPLICA_POSITION: must be required or optional, not -1',
    'LOAD_CAPACITY: must be a whole number from 1 to 10000, not -1',
    'CALLER_SHARE: must be a whole number from 1 to 10000, not -1',
    'KEEP_ALIVE_SECONDS: must be a whole number from 1 to 3600, not -1',
    'MAX_CONNECTIONS: must be a whole number from 1 to 100000, not -1',
    'RATE_LIMIT: must be a whole number from 0 to 1000000, not -1',
    'IDEMPOTENCY_KEY_HOURS: must be a whole number from 1 to 8760, not -1',
    'CHANGES_DAYS: must be a whole number from 0 to 36500, not -1',
    'SHUTDOWN_SECONDS: must be a whole number from 1 to 600, not -1',
    'JWT_SECRET and JWT_JWKS_URL: set only one of them',
  ])
})

const KNOWN =
  'schema, pooler, host, port, user, password, application_name, options, lock_timeout, sslmode, sslrootcert, sslcert, sslkey'

test('an address of a database can only have parameters that have an effect', (t) => {
  const problemOf = (query: string) => {
    const address = `postgresql://me:hush@localhost/x?${query}`
    const [problem] = problemsOf({ DATABASE_URL: address })
    const [other] = problemsOf({ DATABASE_REPLICA_URLS: `postgresql://localhost/x,${address}` })
    t.is(other, problem?.replace('DATABASE_URL', 'DATABASE_REPLICA_URLS'))
    return problem
  }
  for (const name of ['connection_limit', 'connect_timeout', 'pgbouncer', 'sslMode', 'ssl'])
    t.regex(problemOf(`${name}=1`) ?? '', new RegExp(`unknown parameter ${name}; it can have ${KNOWN}$`))
  t.notRegex(problemOf('34hush@host/name') ?? '', /hush/)
  t.regex(problemOf('sslmode=prefer') ?? '', /sslmode: disable, require, verify-ca, verify-full$/)
  t.regex(problemOf('sslmode=verify-ca') ?? '', /sslrootcert with sslmode=verify-ca$/)
  t.regex(problemOf('sslrootcert=/nowhere') ?? '', /a readable file as sslrootcert$/)
  const { execPath } = process
  for (const query of [
    '',
    'host=/run&schema=y',
    `sslmode=verify-ca&sslrootcert=${execPath}`,
    'options=-c%20a%3D1',
  ])
    t.notThrows(() => readSettings({ DATABASE_URL: `postgresql:///x?${query}` }), query)
})

test('several hosts, which libpq would try in turn, are a problem that says so', (t) => {
  const problemOf = (environment: NodeJS.ProcessEnv) => problemsOf(environment).join()
  for (const address of [
    'postgresql://me:hush@a,b/x',
    'postgresql://me:hush@a:5432,b:5433/x',
    'postgres://[::1]:5432,[::2]:5432/x',
    'postgresql://a,b',
    'postgresql:///x?host=a,b',
    'postgresql://a/x?port=5432,5433',
  ]) {
    t.regex(
      problemOf({ DATABASE_URL: address }),
      /^DATABASE_URL: must name one host; for several servers/,
      address,
    )
    const replicas = problemOf({ DATABASE_REPLICA_URLS: `postgresql://c/x,${address}` })
    t.regex(
      replicas,
      /^DATABASE_REPLICA_URLS: must be addresses separated by commas, each with one host$/,
      address,
    )
  }
  for (const query of ['target_session_attrs=read-write', 'hostaddr=127.0.0.1', 'load_balance_hosts=random'])
    t.regex(
      problemOf({ DATABASE_URL: `postgresql://a/x?${query}` }),
      /unknown parameter (target|hostaddr|load_)/,
    )
  for (const one of [
    'postgresql://me:1,2@a/x',
    'postgresql://a/x?options=-c%20a%3D1,2',
    'postgresql://[::1]/x',
  ])
    t.is(problemOf({ DATABASE_URL: one }), '', one)
})

test('variables with several hosts are a problem where they complete DATABASE_URL', (t) => {
  const DATABASE_URL = 'postgresql:///x'
  const problemOf = (environment: NodeJS.ProcessEnv) => problemsOf(environment).join()
  t.regex(problemOf({ DATABASE_URL, PGHOST: 'a,b' }), /^PGHOST: must name one host/)
  t.regex(problemOf({ DATABASE_URL, PGPORT: '1,2' }), /^PGPORT: must name one host/)
  t.regex(
    problemOf({ DATABASE_URL, PGTARGETSESSIONATTRS: 'primary' }),
    /^PGTARGETSESSIONATTRS: has no effect/,
  )
  t.is(problemOf({ DATABASE_URL, PGHOST: 'a', PGPORT: '1', PGTARGETSESSIONATTRS: 'any' }), '')
  t.is(problemOf({ DATABASE_URL: 'postgresql://a:1/x', PGHOST: 'a,b', PGPORT: '1,2' }), '')
  t.is(problemOf({ PGHOST: 'a,b', PGTARGETSESSIONATTRS: 'primary' }), '', 'the embedded database')
})

test('all problems are reported together', (t) => {
  t.is(problemsOf({ PORT: 'x', API_VERSION: 'x', LOG_LEVEL: 'x', NODE_ENV: 'production' }).length, 4)
})

test('problems contain neither secrets nor addresses', (t) => {
  const problems = problemsOf({ JWT_SECRET: 'hush', DATABASE_URL: 'mysql://me:hush@localhost/x' })
  t.is(problems.length, 2)
  t.notRegex(problems.join(), /hush/)
})

test('a secret and a key set together are a problem', (t) => {
  t.is(problemsOf({ JWT_SECRET: secret, JWT_JWKS_URL: 'https://id.example.org/keys' }).length, 1)
})

test('a domain has settings of its own, which no other domain reads', (t) => {
  const of = (environment: NodeJS.ProcessEnv) => readSettings(environment, [], domain).ruleSettings
  t.deepEqual(of({}), { planetReference: 'stub', trainingAccess: 'all' })
  t.like(of({ PLANET_REFERENCE: 'strict' }), { planetReference: 'strict' })
  t.deepEqual(readSettings({ PLANET_REFERENCE: 'strict' }).ruleSettings, {})
  const error = t.throws(() => readSettings({ PLANET_REFERENCE: 'lax', PORT: 'x' }, [], domain), {
    instanceOf: SettingsError,
  })
  t.is(error?.problems.length, 2)
})

test('scopes of collections that the domain lacks are a problem', (t) => {
  const collections = domain.resources.map(({ path }) => path).join(', ')
  for (const name of ['ANONYMOUS_SCOPES', 'DEFAULT_SCOPE'])
    for (const [scopes, unknown] of [
      ['facilties:read', 'facilties:read'],
      ['*:read specie:read planets:raed', 'specie:read or planets:raed'],
      ['planets:medical', 'planets:medical'],
    ]) {
      const error = t.throws(() => readSettings({ [name]: scopes }, [], domain), {
        instanceOf: SettingsError,
      })
      t.deepEqual(error?.problems, [`${name}: there is no scope ${unknown}; collections: ${collections}`])
    }
  const map = (scopes: object) => () =>
    readSettings({ SCOPES_CLAIM: 'groups', SCOPES_MAP: JSON.stringify(scopes) }, [], domain)
  const error = t.throws(map({ readers: ['*:read'], editors: ['specie:write', 'staff'] }), {
    instanceOf: SettingsError,
  })
  t.deepEqual(error?.problems, [`SCOPES_MAP: there is no scope specie:write; collections: ${collections}`])
  t.deepEqual(map({ editors: ['species:write', 'staff'] })().scopesMap, {
    editors: ['species:write', 'staff'],
  })
  const scopes = '*:read planets:read species:names'
  const read = readSettings({ ANONYMOUS_SCOPES: scopes, DEFAULT_SCOPE: `${scopes} staff` }, [], scopedDomain)
  t.like(read, { anonymousScopes: scopes, defaultScope: `${scopes} staff` })
})

test.serial('the token that the start prints has all scopes, also those of fields', async (t) => {
  const { write } = process.stdout
  let printed = ''
  process.stdout.write = (text: string | Uint8Array) => {
    printed += text
    return true
  }
  const service = { origin: 'http://localhost', base: 'http://localhost/api/v1' } as never
  const configuration = { settings: readSettings({}), domain: { ...scopedDomain, folder: { seed: 'none' } } }
  await introduce(service, configuration as never, withSecret).finally(() => {
    process.stdout.write = write
  })
  t.regex(printed, /Token for these pages, with all scopes and no claims \(npx halgraph token --claims adds/)
  const [token = ''] = /eyJ\S+/.exec(printed) ?? []
  const names = ['climate', 'fleet', 'names', 'origin', 'private', 'read', 'status', 'write']
  t.deepEqual(
    (decodeJwt(token)['scope'] as string).split(' ').sort(),
    names.map((name) => `*:${name}`),
  )
})

test('a key set without an audience is worth a warning', (t) => {
  const keySet = { JWT_JWKS_URL: 'https://id.example.org/keys' }
  t.regex(settingsWarnings(readSettings(keySet)).join(), /^JWT_AUDIENCE is not set: tokens .* other services/)
  t.deepEqual(settingsWarnings(readSettings({ ...keySet, JWT_AUDIENCE: 'halgraph' })), [])
  for (const environment of [{}, { JWT_SECRET: secret }])
    t.deepEqual(settingsWarnings(readSettings(environment)), [])
})

test('a map of scopes has a list for each value, and needs the claim that has the values', (t) => {
  for (const map of [
    '[]',
    '{"a":"x:read"}',
    '{"a":[1]}',
    '{"a":["x:read y:read"]}',
    '{"a":[""]}',
    'a=x:read',
  ])
    t.regex(
      String(problemsOf({ SCOPES_CLAIM: 'groups', SCOPES_MAP: map })),
      /^SCOPES_MAP: must be a JSON object/,
    )
  t.deepEqual(problemsOf({ SCOPES_MAP: '{}' }), [
    'SCOPES_MAP: set SCOPES_CLAIM, the claim whose values it maps',
  ])
})

test('the issuer of Sign in is that of tokens, has their keys, and makes them for the client or the audience', (t) => {
  const pages = { OIDC_ISSUER: 'https://id.example.org', OIDC_CLIENT_ID: 'pages' }
  t.like(readSettings({ ...pages, NODE_ENV: 'production' }), {
    jwt: { kind: 'issuer', url: 'https://id.example.org', maximumStaleHours: 24 },
    jwtIssuer: 'https://id.example.org',
    jwtAudience: 'pages',
  })
  t.like(readSettings({ ...pages, OIDC_AUDIENCE: 'catalogue' }), { jwtAudience: 'catalogue' })
  const own = { JWT_JWKS_URL: 'https://keys.example.org/', JWT_ISSUER: 'https://x', JWT_AUDIENCE: 'y' }
  t.like(readSettings({ ...pages, ...own }), {
    jwt: { kind: 'jwks', url: 'https://keys.example.org/', maximumStaleHours: 24 },
    jwtIssuer: 'https://x',
    jwtAudience: 'y',
  })
  t.deepEqual(settingsWarnings(readSettings(pages)), [])
  t.deepEqual(problemsOf({ ...pages, JWT_SECRET: secret }), [
    'JWT_SECRET and OIDC_ISSUER: set only one of them',
  ])
  const { OIDC_ISSUER, OIDC_CLIENT_ID } = pages
  for (const partial of [
    { OIDC_ISSUER },
    { OIDC_CLIENT_ID },
    { OIDC_SCOPES: 'openid' },
    { OIDC_AUDIENCE: 'x' },
  ])
    t.deepEqual(problemsOf(partial), ['OIDC_ISSUER and OIDC_CLIENT_ID: set both of them for Sign in'])
})

test('production needs a secret, a key set or an issuer', (t) => {
  t.is(problemsOf({ NODE_ENV: 'production' }).length, 1)
  t.deepEqual(readSettings({ NODE_ENV: 'production', JWT_SECRET: secret }).jwt, { kind: 'secret', secret })
})

test('.env.example names every setting in order, with its default and one comment', async (t) => {
  const example = await readFile(new URL('../../.env.example', import.meta.url), 'utf8')
  const entries = Object.entries(settingsTable).map(([name, { desc, default: value }]) => {
    return `# ${desc}\n${name}=${value ?? ''}\n`
  })
  const ofDomain = Object.entries(domain.settings ?? {}).map(([name, { choices, description }]) => {
    return `# ${description}\n${name}=${choices[0]}\n`
  })
  t.is(example, [...entries, ...ofDomain].join('\n'))
})
