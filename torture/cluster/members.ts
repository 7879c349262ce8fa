import { spawn } from 'node:child_process'
import { chown, mkdir, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Owner } from '../../test/helpers/database/database.ts'
import type { Components } from './components.ts'
import { type Host, NAMESPACES } from './network.ts'

export const POSTGRES_PORT = 5432
export const PATRONI_PORT = 8008

/** In seconds: the leader's key, the time between two rounds, and for a response of etcd or PostgreSQL. */
const TIMES = { ttl: 5, loop_wait: 1, retry_timeout: 2 }

/** PostgreSQL under Patroni, in a network namespace of its own. */
export interface Member {
  readonly name: string
  readonly host: Host
  /** Its database of that name, reached directly. */
  databaseUrl(database: string): string
  /** Starts Patroni, which starts PostgreSQL. */
  start(): Promise<void>
  /** What Patroni says of it; undefined if it does not answer. */
  status(): Promise<MemberStatus | undefined>
  /** Whether PostgreSQL is a standby; undefined if it does not answer. */
  isStandby(): Promise<boolean | undefined>
}

/** The answer of Patroni at `/patroni`. */
export interface MemberStatus {
  readonly state: string
  readonly role: string
  readonly replication?: readonly { application_name: string; state: string; sync_state: string }[]
}

/** Makes a member, which is not yet started. Its processes end with its network namespace. */
export async function createMember(
  folder: string,
  host: Host,
  etcd: string,
  components: Components,
  owner: Owner,
): Promise<Member> {
  const name = `member-${host.namespace.split('-').at(-1)}`
  const home = join(folder, name)
  const { uid, gid } = components
  await mkdir(home, { mode: 0o700 })
  const file = join(home, 'patroni.json')
  await writeFile(file, JSON.stringify(patroniSettings(name, home, host, etcd, components), undefined, 2))
  await chown(home, uid, gid)
  const databaseUrl = (database: string) =>
    `postgresql://postgres@${host.address}:${POSTGRES_PORT}/${database}`
  const watch = createWatch(databaseUrl('postgres'), owner)
  return {
    name,
    host,
    databaseUrl,
    isStandby: watch,
    async start() {
      const log = await open(join(home, 'log'), 'a')
      const place = [`--net=${NAMESPACES}/${host.namespace}`, `--setuid=${uid}`, `--setgid=${gid}`]
      spawn('nsenter', [...place, 'patroni', file], { stdio: ['ignore', log.fd, log.fd], cwd: home })
      await log.close()
    },
    status: () => ask(`http://${host.address}:${PATRONI_PORT}/patroni`),
  }
}

/** A real cluster would have the same, with longer times and passwords. */
function patroniSettings(
  name: string,
  home: string,
  { address }: Host,
  etcd: string,
  { postgres }: Components,
) {
  return {
    scope: 'halgraph',
    name,
    restapi: { listen: `${address}:${PATRONI_PORT}`, connect_address: `${address}:${PATRONI_PORT}` },
    // With version 3 of etcd's protocol, a former leader that was frozen takes the key back from its successor, and
    // acknowledged writes are lost: a fault of Patroni before 3.0.3 (github.com/patroni/patroni/pull/2689).
    etcd: { host: etcd },
    bootstrap: {
      dcs: {
        ...TIMES,
        master_start_timeout: 0,
        synchronous_mode: true,
        synchronous_mode_strict: true,
        postgresql: { use_pg_rewind: true, use_slots: true },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
    },
    postgresql: {
      listen: `${address}:${POSTGRES_PORT}`,
      connect_address: `${address}:${POSTGRES_PORT}`,
      data_dir: join(home, 'data'),
      bin_dir: postgres,
      pgpass: join(home, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres' },
        replication: { username: 'postgres' },
      },
      parameters: {
        unix_socket_directories: home,
        wal_sender_timeout: '3s',
        wal_receiver_timeout: '3s',
        wal_retrieve_retry_interval: '500ms',
        shared_buffers: '32MB',
      },
      pg_hba: ['local all all trust', 'host all all all trust', 'host replication all all trust'],
    },
  }
}

async function ask(url: string): Promise<MemberStatus | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) })
    return (await response.json()) as MemberStatus
  } catch {
    return undefined
  }
}

const RESPONSE_MILLISECONDS = 1_000

/** Keeps one connection, so that a question costs little. */
function createWatch(connectionString: string, owner: Owner): () => Promise<boolean | undefined> {
  let client: pg.Client | undefined
  owner.teardown(async () => void client?.end().catch(() => {}))
  return async () => {
    const current =
      client ?? new pg.Client({ connectionString, connectionTimeoutMillis: RESPONSE_MILLISECONDS })
    const answer = async () => {
      if (client !== current) {
        current.on('error', () => {})
        await current.connect()
        client = current
      }
      const { rows } = await current.query('SELECT pg_is_in_recovery() AS standby')
      return rows[0].standby as boolean
    }
    const timeout = delay(RESPONSE_MILLISECONDS, undefined, { ref: false }).then(() => {
      throw new Error('no response')
    })
    try {
      return await Promise.race([answer(), timeout])
    } catch {
      client = undefined
      // A connection that does not answer does not answer its end either.
      ;(current as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
      return undefined
    }
  }
}
