import { setTimeout as delay } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import pg from 'pg'
import type { Settings } from '../../../src/service/settings/settings.ts'
import type { Client } from '../service/client.ts'
import { startTestService, type TestService } from '../service/service.ts'
import { createOwnServer, type OwnServer, type Programs } from './own-server.ts'
import { createDatabaseOn } from './postgres-server.ts'

/** A primary and a standby that replays when a test says so, or after a delay. */
export async function createPair(
  t: ExecutionContext,
  programs: Programs,
  standbySettings: readonly string[] = [],
) {
  const primary = await createOwnServer(t, programs)
  const databaseUrl = await createDatabaseOn(primary.address, t)
  const standby = await primary.standby(standbySettings)
  const replicaUrl = onServer(databaseUrl, standby)
  const control = new pg.Client({ connectionString: replicaUrl })
  control.on('error', () => {})
  await control.connect()
  t.teardown(() => control.end())
  await control.query("SET default_transaction_isolation TO 'read committed'")
  return { primary, standby, databaseUrl, replicaUrl, control }
}

/** The address of a database on another server of the machine. */
export function onServer(databaseUrl: string, { address }: OwnServer): string {
  return onPort(databaseUrl, new URL(address).port)
}

/** The address of a database behind another port of the machine. */
export function onPort(databaseUrl: string, port: number | string): string {
  const url = new URL(databaseUrl)
  url.port = String(port)
  return url.href
}

/** Follows what a service reports of its replicas, and waits for a number of usable ones. */
export function watchReplicas(t: ExecutionContext, patienceSeconds: number) {
  const usable: number[] = []
  return {
    reports: { reportReplicas: (count: number) => usable.push(count) },
    async become(count: number) {
      for (let wait = 0; usable.at(-1) !== count && wait < 20 * patienceSeconds; wait++) await delay(50)
      t.is(usable.at(-1), count)
    },
  }
}

/** A process that has read from the replica already. A replica may lag for as long as a test takes. */
export async function startFollowing(
  t: ExecutionContext,
  urls: { readonly databaseUrl: string; readonly replicaUrl: string },
  overrides: Partial<Settings> = {},
): Promise<TestService> {
  const { reports, become } = watchReplicas(t, 20)
  const settings = { replicaLag: 600_000, databaseTimeout: 10_000, metrics: true, ...overrides }
  const service = await startTestService(
    t,
    { databaseUrl: urls.databaseUrl, databaseReplicaUrls: [urls.replicaUrl], ...settings },
    reports,
  )
  await become(1)
  return service
}

/** Waits until a resource can be read without a token. */
export async function untilVisible(client: Client, path: string): Promise<void> {
  for (let wait = 0; (await client.get(path)).status !== 200 && wait < 400; wait++) await delay(50)
}

/** How many operations of a process began with reads from somewhere. */
export async function reads(
  { anonymous, origin }: Pick<TestService, 'anonymous' | 'origin'>,
  from: string,
): Promise<number> {
  const { text } = await anonymous.get(`${origin}/metrics`)
  return Number(new RegExp(`^halgraph_database_reads_total\\{from="${from}"\\} (\\d+)$`, 'm').exec(text)?.[1])
}
