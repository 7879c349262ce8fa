import pg from 'pg'
import { parseConnection } from '../../../src/database/connection.ts'
import { migrate } from '../../../src/database/migrations/migrator.ts'
import { withSession } from '../../../src/database/migrations/session.ts'
import { createDistributed, sendBy } from '../../../src/database/namespaces/citus.ts'
import { addressOf, register, schemaOf } from '../../../src/database/namespaces/registry.ts'
import type { LocatedDomain } from '../../../src/service/settings/domain-folder.ts'
import type { Settings } from '../../../src/service/settings/settings.ts'
import type { Owner } from '../database/database.ts'
import { createSpacesOn, type ManyNames, PREPARED } from '../database/postgres-server.ts'
import { domain } from '../domain/domain.ts'
import { accessToken } from './access-token.ts'
import { type Client, createClient } from './client.ts'
import { SECRET, startTestService, type TestService } from './service.ts'

/** A service with NAMESPACES=many. */
export interface ManyService extends TestService {
  readonly databaseUrl: string
  /** For each prepared namespace, what {@link inside} makes. */
  readonly clients: Readonly<Record<ManyNames[number], Client>>
  /** A client of one namespace that may do everything there. Its GraphQL is that of the namespace. */
  inside(name: string, claims?: object, scope?: string): Client
  /** Makes a namespace, as `halgraph namespace create` does. */
  create(name: string, address?: string): Promise<void>
}

/** @param names the namespaces that it begins with */
export async function startMany(
  owner: Owner,
  server: string,
  overrides: Partial<Settings> = {},
  parts: Parameters<typeof startTestService>[2] & { readonly databaseUrl?: string | undefined } = {},
  names: ManyNames = PREPARED,
): Promise<ManyService> {
  const { migrations } = ((parts.domain ?? domain) as LocatedDomain).folder
  const given = parts.databaseUrl
  const databaseUrl = given ?? (await createSpacesOn(server, owner, names, migrations))
  const isEmpty = given !== undefined
  const settings = {
    migrateOnStart: isEmpty,
    databaseUrl,
    namespaces: 'many',
    databasePoolSize: 6,
    ...overrides,
  } as const
  const service = await startTestService(owner, settings, parts)
  const inside: ManyService['inside'] = (name, claims = { namespaces: name }, scope = '*:read *:write') =>
    createClient(
      `${service.origin}/${name}`,
      `${service.origin}/${name}/v1`,
      accessToken({ secret: SECRET, scope, subject: 'ada', claims: { ...claims } }),
    )
  const create: ManyService['create'] = async (name, address) => {
    const connection = parseConnection(addressOf({ schema: schemaOf(name), address }, databaseUrl))
    await withSession(connection, (transact) =>
      transact((client) => createDistributed(sendBy(client), schemaOf(name))),
    )
    await migrate(connection, migrations)
    await query(databaseUrl, (send) => register(send, undefined, name, address))
  }
  if (isEmpty) for (const name of names) await create(name)
  return {
    ...service,
    databaseUrl,
    inside,
    clients: Object.fromEntries(PREPARED.map((name) => [name, inside(name)])) as ManyService['clients'],
    create,
  }
}

/** Sends statements outside of the service. */
export async function query<Result>(
  address: string,
  work: (send: (text: string, values?: readonly unknown[]) => Promise<readonly object[]>) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  try {
    return await work(async (text, values = []) => (await client.query(text, [...values])).rows)
  } finally {
    await client.end()
  }
}
