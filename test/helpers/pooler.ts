import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createTestFolder, type Owner } from './database.ts'
import { freePort } from './free-port.ts'

/** Whether PgBouncer is on this machine; the reason is printed where it is not. */
export async function findPooler(log: (reason: string) => void): Promise<boolean> {
  const child = spawn('pgbouncer', ['--version'], { stdio: 'ignore' })
  const isThere = await once(child, 'exit').then(
    ([code]) => code === 0,
    () => false,
  )
  if (!isThere) log('not tried: PgBouncer is not installed')
  return isThere
}

/**
 * A PgBouncer with its own settings as they come, in front of a server; gone at teardown.
 *
 * @returns the address of the same database through it
 */
export async function createPooler(
  owner: Owner,
  databaseUrl: string,
  mode: 'session' | 'transaction',
): Promise<string> {
  const folder = await createTestFolder(owner)
  const target = new URL(databaseUrl)
  const port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    `[databases]
* = host=${target.hostname} port=${target.port || 5432} user=${target.username || 'postgres'}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 10
`,
  )
  await chmod(folder, 0o755)
  // PgBouncer refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'postgres'] : []
  const child = spawn('pgbouncer', [...user, file], { stdio: 'ignore' })
  owner.teardown(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  target.host = `127.0.0.1:${port}`
  await untilItAnswers(target.href)
  return target.href
}

async function untilItAnswers(connectionString: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const client = new pg.Client({ connectionString })
    client.on('error', () => {})
    const failure = await client.connect().then(
      () => undefined,
      (error: Error) => error,
    )
    await client.end().catch(() => {})
    if (!failure) return
    if (attempt === 200) throw failure
    await delay(50)
  }
}
