import type { TestFn } from 'ava'
import type { Domain } from '../../../src/model/definition/domain.ts'
import type { ServiceParts } from '../../../src/service/application.ts'
import { readSettings, type Settings } from '../../../src/service/settings/settings.ts'
import { startOwned } from '../../../src/service/testing-service.ts'
import { createTestDatabase, type Owner, POOL_SIZE, type TestDatabase } from '../database/database.ts'
import { domain, unlimitedClaims } from '../domain/domain.ts'
import { takeTurn } from '../process/turns.ts'
import { accessToken } from './access-token.ts'
import { type Client, createClient } from './client.ts'
import { createConformanceCheck } from './conformance.ts'
import { servedFeatures } from './features.ts'

/** A running service on a database of its own, and who may call it. */
export interface TestService {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string
  /** The address of the entry document. */
  readonly base: string
  readonly database: TestDatabase
  readonly settings: Settings
  /** What the service reported as its own fault. Empty at teardown, or the test fails. */
  readonly faults: Error[]
  /** Sends no token. */
  readonly anonymous: Client
  /** `*:read` */
  readonly reader: Client
  /** `*:read *:write` */
  readonly writer: Client
  /** A client with these scopes only, as in `species:read planets:write`, and of that name if it has one. */
  withScope(scope: string, subject?: string, claims?: Readonly<Record<string, unknown>>): Client
  /** A client of that name that may do everything. */
  withSubject(subject: string): Client
}

/** Signs the tokens of the callers of {@link startTestService}. */
export const SECRET = 'only the tests know this secret of theirs'

export const TOKENS = {
  jwt: { kind: 'secret', secret: SECRET },
  jwtIssuer: undefined,
  jwtAudience: undefined,
  jwtLeewaySeconds: 0,
} as const

/**
 * A service for all tests of a file: `const service = shareTestService(test)` at its top level, then
 * `service().writer` inside the tests. Tests that count on nobody else writing are `test.serial`.
 */
export function shareTestService(
  test: TestFn,
  overrides: Partial<Settings> = {},
  parts: TestParts = {},
): () => TestService {
  const releases: (() => Promise<void>)[] = []
  let service: TestService | undefined
  test.serial.before(async () => {
    const owner = { teardown: (release: () => Promise<void>) => void releases.push(release) }
    service = await startTestService(owner, overrides, parts)
  })
  test.after.always(async () => {
    for (const release of releases) await release()
  })
  return () => {
    if (!service) throw new Error('The service has not started; ask for it inside a test.')
    return service
  }
}

let serviceOfSuite: (() => TestService) | undefined

/** The same service for all files of a suite. Their tests hold whatever the others store. */
export function shareServiceOfSuite(test: TestFn): () => TestService {
  serviceOfSuite ??= shareTestService(test)
  return serviceOfSuite
}

type TestParts = Partial<
  Pick<ServiceParts, 'tokens' | 'features' | 'limit' | 'reportRequest' | 'reportReplicas'>
> & {
  domain?: Domain
}

/**
 * A busy machine is no reason for a test to see a 503 or a start that is refused, and the requests of one caller race like
 * those of several. A process that stood still would close a kept connection on which its own client has just sent a
 * request.
 */
const PATIENT = {
  databaseTimeout: 60_000,
  databaseStartSeconds: 60,
  loadCapacity: 2_000,
  callerShare: 2_000,
  keepAliveSeconds: 600,
} as const

/**
 * Starts the service in this process on a free port and a migrated, empty database; both end with their
 * owner, which is usually ava's `t`.
 */
export async function startTestService(
  owner: Owner,
  overrides: Partial<Settings> = {},
  parts: TestParts = {},
): Promise<TestService> {
  await takeTurn(owner)
  const releases = collectReleases(owner)
  const migrateOnStart = process.env['TEST_DATABASE_URL'] === undefined
  const database =
    overrides.databaseUrl === undefined
      ? await createTestDatabase(releases)
      : { databasePoolSize: POOL_SIZE, migrateOnStart }
  const place = { host: '127.0.0.1', port: 0, databaseUrl: undefined, ...database }
  const settings: Settings = { ...readSettings({}, [], domain), ...PATIENT, ...place, ...overrides }
  const { service, faults } = await startOwned(
    {
      settings,
      tokens: TOKENS,
      ...servedFeatures(),
      ...parts,
      domain: { ...domain, ...parts.domain },
    },
    releases,
  )
  const { origin, base } = service
  // Whatever a test asks for, the answer must be one that the OpenAPI document describes.
  const check = createConformanceCheck(settings, parts.domain)
  const withScope: TestService['withScope'] = (scope, subject, claims = unlimitedClaims) => {
    const named = subject === undefined ? {} : { subject }
    return createClient(origin, base, accessToken({ secret: SECRET, scope, claims, ...named }), check)
  }
  return {
    origin,
    base,
    database: service.database as TestDatabase,
    settings,
    faults,
    anonymous: createClient(origin, base, undefined, check),
    reader: withScope('*:read'),
    writer: withScope('*:read *:write'),
    withScope,
    withSubject: (subject) =>
      createClient(
        origin,
        base,
        accessToken({ secret: SECRET, scope: '*:read *:write', subject, claims: unlimitedClaims }),
      ),
  }
}

/** An owner whose releases run one after the other, the last one first, when its own owner's do. */
function collectReleases(owner: Owner): Owner {
  const releases: (() => Promise<void>)[] = []
  owner.teardown(async () => {
    const failures: unknown[] = []
    for (const release of releases.reverse()) await release().catch((error) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  })
  return { teardown: (release) => void releases.push(release) }
}
