import { randomBytes } from 'node:crypto'
import { loadSettingsFile } from './settings/configuration.ts'
import { domainFolder, loadDefinitions } from './settings/domain-folder.ts'
import { readSettings } from './settings/settings.ts'
import { mintToken, tokenSettings } from './start/development-token.ts'
import { createTestDatabase } from './testing-database.ts'
import {
  type Answer,
  createRequest,
  type Json,
  type Owner,
  type RequestHeaders,
  startOwned,
} from './testing-service.ts'

/*
 * Tests of a domain import this module as `halgraph/testing`; docs/DOMAINS.md explains it with an example.
 */

export type { Representation } from '../model/definition/typed.ts'

export type { Answer, Json, Owner, RequestHeaders } from './testing-service.ts'

/**
 * Sends requests as one caller. A path is relative to the entry document, as in `/items`; an absolute URL, such as the href
 * of a link, is taken as it is. A body is sent as JSON, a text as it is.
 */
export interface Client {
  get<Body = Json>(path: string, headers?: RequestHeaders): Promise<Answer<Body>>
  post<Body = Json>(path: string, body?: unknown, headers?: RequestHeaders): Promise<Answer<Body>>
  put<Body = Json>(path: string, body?: unknown, headers?: RequestHeaders): Promise<Answer<Body>>
  patch<Body = Json>(path: string, body?: unknown, headers?: RequestHeaders): Promise<Answer<Body>>
  delete<Body = Json>(path: string, headers?: RequestHeaders): Promise<Answer<Body>>
  /** The body has `data` and, if there are any, `errors`. */
  graphql<Data = Json>(
    query: string,
    variables?: object,
    headers?: RequestHeaders,
  ): Promise<Answer<{ readonly data: Data; readonly errors?: readonly Json[] }>>
}

/** What the token of a client says. */
export interface TestCaller {
  /** `tester` by default. */
  readonly subject?: string
  /** Such as `items:read`; all by default. */
  readonly scopes?: readonly string[]
  /** Further claims, for access rules. */
  readonly claims?: Readonly<Record<string, unknown>>
}

/** A running service on a database of its own. */
export interface TestService {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string
  /** The address of the entry document. */
  readonly base: string
  /** Sends no token. */
  readonly anonymous: Client
  /** Its token has the scope `*:read`. */
  readonly reader: Client
  /** Its token has the scopes `*:read *:write`. */
  readonly writer: Client
  as(caller: TestCaller): Client
  /**
   * Stops the service and removes its database. Has an effect once.
   *
   * @throws {Error} with what the service reported as its own faults
   */
  close(): Promise<void>
}

/**
 * Starts the service of a domain, with a new database: an embedded one in a temporary folder, or one of its own on the
 * PostgreSQL server of TEST_DATABASE_URL. It prints nothing.
 *
 * @param owner closes the service at its end; without one, call `close`
 * @param options `domain`: the folder, by default that of the setting DOMAIN. `settings`: by the names of `.env.example`,
 *   as texts; those of the environment do not apply
 * @throws {DefinitionError} if the definitions have a problem, or the domain is not built
 * @throws {SettingsError} for a setting that is not valid
 */
export async function startTestService(
  owner?: Owner,
  {
    domain: folder,
    settings = {},
  }: { readonly domain?: string; readonly settings?: Readonly<Record<string, string>> } = {},
): Promise<TestService> {
  loadSettingsFile()
  const domain = await loadDefinitions(domainFolder(folder ?? (process.env['DOMAIN'] || undefined)))
  const database = await createTestDatabase(domain)
  try {
    const read = readSettings({ ...SETTINGS, ...database.settings, ...settings }, [], domain)
    const tokens = await tokenSettings(read)
    const { service, close } = await startOwned({ settings: read, domain, tokens }, owner, database.remove)
    const { origin, base } = service
    const as = ({ subject = 'tester', scopes = ['*:read', '*:write'], claims = {} }: TestCaller): Client =>
      createClient(service, mintToken(tokens, { scope: scopes.join(' '), subject, expiresIn: '12h' }, claims))
    const [reader, writer] = [as({ scopes: ['*:read'] }), as({})]
    return { origin, base, anonymous: createClient(service), reader, writer, as, close }
  } catch (error) {
    await database.remove()
    throw error
  }
}

/** A busy machine is no reason for a test to see a 503. */
const SETTINGS = {
  HOST: '127.0.0.1',
  PORT: '0',
  MIGRATE_ON_START: 'true',
  DATABASE_POOL_SIZE: '4',
  DATABASE_TIMEOUT: '60000',
  CALLER_SHARE: '64',
  JWT_SECRET: randomBytes(32).toString('hex'),
}

function createClient({ origin, base }: { origin: string; base: string }, token?: Promise<string>): Client {
  const request = createRequest({ base }, { token })
  return {
    get: (path, headers) => request('GET', path, undefined, headers),
    post: (path, body, headers) => request('POST', path, body, headers),
    put: (path, body, headers) => request('PUT', path, body, headers),
    patch: (path, body, headers) => request('PATCH', path, body, headers),
    delete: (path, headers) => request('DELETE', path, undefined, headers),
    graphql: (query, variables, headers) =>
      request('POST', `${origin}/graphql`, { query, variables }, headers),
  }
}
