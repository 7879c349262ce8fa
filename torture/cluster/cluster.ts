import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestFolder, type Owner } from '../../test/helpers/database/database.ts'
import { freePort } from '../../test/helpers/process/free-port.ts'
import type { Components } from './components.ts'
import { createMember, type Member, PATRONI_PORT, POSTGRES_PORT } from './members.ts'
import { createNetwork } from './network.ts'

const MEMBERS = 3
const PATIENCE_MILLISECONDS = 120_000

/** PostgreSQL under Patroni, with etcd, behind HAProxy. */
export interface Cluster {
  readonly members: readonly Member[]
  /** HAProxy's port of the primary, and one for each member while it is a replica. */
  readonly primaryPort: number
  readonly replicaPorts: readonly number[]
  /** The member that is the primary, once all others follow it and one of them does synchronously. */
  whole(): Promise<Member>
}

/** Starts a cluster of three members; one standby is synchronous. Gone at teardown. */
export async function createCluster(owner: Owner, components: Components): Promise<Cluster> {
  const folder = await createTestFolder(owner)
  await chmod(folder, 0o755)
  const network = createNetwork(owner, MEMBERS)
  const etcd = await startEtcd(folder, network.address, owner)
  const members: Member[] = []
  for (const host of network.hosts) members.push(await createMember(folder, host, etcd, components, owner))
  for (const member of members) await member.start()
  const primaryPort = await freePort()
  const replicaPorts: number[] = []
  for (const _ of members) replicaPorts.push(await freePort())
  const file = join(folder, 'haproxy.cfg')
  await writeFile(file, proxySettings(members, primaryPort, replicaPorts))
  await startProgram('haproxy', ['-db', '-f', file], folder, owner)
  const whole = () => untilWhole(members)
  await whole()
  return { members, primaryPort, replicaPorts, whole }
}

async function startEtcd(folder: string, address: string, owner: Owner): Promise<string> {
  const clients = `${address}:${await freePort()}`
  const peers = `http://${address}:${await freePort()}`
  const url = `http://${clients}`
  const parameters = [
    ...['--name', 'etcd', '--data-dir', join(folder, 'etcd'), '--enable-v2'],
    ...['--listen-client-urls', url, '--advertise-client-urls', url],
    ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers],
    ...['--initial-cluster', `etcd=${peers}`],
  ]
  await startProgram('etcd', parameters, folder, owner)
  return clients
}

/**
 * HAProxy asks Patroni twice a second which member is the primary, and which ones are replicas that follow. It
 * ends the sessions of a member that is no longer what it was, so no session stays with a former primary.
 */
function proxySettings(members: readonly Member[], primary: number, replicas: readonly number[]): string {
  const server = ({ name, host: { address } }: Member) =>
    `  server ${name} ${address}:${POSTGRES_PORT} check port ${PATRONI_PORT}`
  const listen = (name: string, port: number, path: string, servers: readonly Member[]) => `
listen ${name}
  bind 127.0.0.1:${port}
  option httpchk GET ${path}
  http-check expect status 200
  default-server inter 500ms fall 2 rise 2 on-marked-down shutdown-sessions
${servers.map(server).join('\n')}
`
  return `defaults
  mode tcp
  timeout connect 1s
  timeout check 1s
  timeout client 1h
  timeout server 1h
${listen('primary', primary, '/primary', members)}${members
  .map((member, index) =>
    listen(`replica-of-${member.name}`, replicas[index] as number, '/replica', [member]),
  )
  .join('')}`
}

async function startProgram(program: string, parameters: string[], folder: string, owner: Owner) {
  const log = await open(join(folder, `${program}.log`), 'a')
  const child = spawn(program, parameters, { stdio: ['ignore', log.fd, log.fd] })
  await log.close()
  owner.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
}

async function untilWhole(members: readonly Member[]): Promise<Member> {
  const until = performance.now() + PATIENCE_MILLISECONDS
  while (performance.now() < until) {
    const statuses = await Promise.all(members.map((member) => member.status()))
    const primaries = members.filter((_, index) => statuses[index]?.role === 'master')
    const replication = statuses.flatMap((status) =>
      status?.role === 'master' ? (status.replication ?? []) : [],
    )
    const streaming = replication.filter(({ state }) => state === 'streaming')
    const synchronous = replication.filter(({ sync_state }) => sync_state === 'sync')
    const [primary] = primaries
    const isWhole =
      primaries.length === 1 &&
      statuses.every((status) => status?.state === 'running') &&
      streaming.length === members.length - 1 &&
      synchronous.length === 1
    if (primary && isWhole) return primary
    await delay(200)
  }
  const statuses = await Promise.all(members.map((member) => member.status()))
  throw new Error(`the cluster is not whole: ${JSON.stringify(statuses)}`)
}
