import type { ExecutionContext } from 'ava'
import type { Settings } from '../../../src/service/settings/settings.ts'
import { createDatabaseOn } from '../database/postgres-server.ts'
import { createFaultyLink } from '../process/faulty-link.ts'
import { startTestService } from './service.ts'

/** Starts a service that reaches its own database on a server over a link that can fail. */
export async function startServiceOverLink(
  t: ExecutionContext,
  server: string | undefined,
  settings: Partial<Settings>,
) {
  const direct = await createDatabaseOn(server as string, t)
  const link = await createFaultyLink(new URL(direct), t)
  const address = new URL(direct)
  address.host = `127.0.0.1:${link.port}`
  const service = await startTestService(t, { databaseUrl: address.href, ...settings })
  return { service, link, direct }
}
