import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from '../process/free-port.ts'
import { createTestFolder, type Owner } from './database.ts'

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

/** A PgBouncer in front of a server. */
export interface Pooler {
  /** The same database through it. */
  readonly address: string
  /** Its console, which shows its connections. */
  readonly console: string
  start(): Promise<void>
  /** Ends it without ceremony. */
  kill(): Promise<void>
}

interface PoolerSettings {
  readonly mode: 'session' | 'transaction'
  /** Connections to the server, for each database. */
  readonly size?: number
  readonly clients?: number
}

/** A PgBouncer whose other settings are its defaults, in front of a server; gone at teardown. */
export async function createPooler(
  owner: Owner,
  databaseUrl: string,
  { mode, size = 10, clients = 100 }: PoolerSettings,
): Promise<Pooler> {
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
default_pool_size = ${size}
max_client_conn = ${clients}
`,
  )
  await chmod(folder, 0o755)
  target.host = `127.0.0.1:${port}`
  const address = target.href
  target.pathname = '/pgbouncer'
  // PgBouncer refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'postgres'] : []
  let child: ChildProcess | undefined
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const start = async () => {
    child = spawn('pgbouncer', [...user, file], { stdio: 'ignore' })
    await untilItAnswers(address)
  }
  owner.teardown(kill)
  await start()
  return { address, console: target.href, start, kill }
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
