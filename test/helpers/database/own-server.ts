import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, chown, mkdir, readdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from '../process/free-port.ts'
import { createTestFolder, type Owner } from './database.ts'

const run = promisify(execFile)

/** A PostgreSQL server that is the owner's own to stop, starve and make others from; gone at teardown. */
export interface OwnServer {
  /** Its database `postgres`. */
  readonly address: string
  start(): Promise<void>
  /** Whether it has ended by itself; waits a moment for one that is about to. */
  hasEnded(): Promise<boolean>
  /** Ends it without ceremony. */
  kill(): Promise<void>
  /** Another server that follows this one (streaming replication), with settings of its own. */
  standby(settings?: readonly string[]): Promise<OwnServer>
  /** Makes servers of its state at this time, which then recover as their settings say (PITR). */
  backup(copies: Owner): Promise<(recovery: readonly string[]) => Promise<OwnServer>>
}

/** PostgreSQL's programs, and whom they are run as: never root. */
export interface Programs {
  readonly folder: string
  readonly identity: { readonly uid?: number; readonly gid?: number }
}

/**
 * Makes servers, where PostgreSQL's own programs are on this machine; undefined, with the reason printed,
 * where they are not.
 */
export async function findPrograms(log: (reason: string) => void): Promise<Programs | undefined> {
  const versions = await readdir('/usr/lib/postgresql').catch(() => [])
  const packaged = versions.map((version) => join('/usr/lib/postgresql', version, 'bin'))
  for (const folder of [...packaged, ...(process.env['PATH'] ?? '').split(delimiter)]) {
    const isThere = await access(join(folder, 'pg_basebackup')).then(
      () => access(join(folder, 'initdb')).then(() => true),
      () => false,
    )
    if (isThere) return { folder, identity: process.getuid?.() === 0 ? identityOf('postgres') : {} }
  }
  log('not tried: the programs of PostgreSQL (initdb, pg_basebackup) are not installed')
  return undefined
}

/**
 * A server that is new and empty.
 *
 * @param parent the folder to make it in, if not a new one
 */
export async function createOwnServer(
  owner: Owner,
  programs: Programs,
  settings: readonly string[] = [],
  parent?: string,
): Promise<OwnServer> {
  const folder = await folderFor(owner, programs, parent)
  const parameters = ['-D', folder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  await run(join(programs.folder, 'initdb'), parameters, programs.identity)
  const server = serverIn(folder, await freePort(), owner, programs, settings)
  await server.start()
  return server
}

function serverIn(
  folder: string,
  port: number,
  owner: Owner,
  programs: Programs,
  settings: readonly string[],
): OwnServer {
  let child: ChildProcess | undefined
  const address = `postgresql://postgres@127.0.0.1:${port}/postgres`
  const isGone = () => !child || child.exitCode !== null || child.signalCode !== null
  const kill = async () => {
    if (isGone()) return
    child?.kill('SIGQUIT')
    await once(child as ChildProcess, 'exit')
  }
  owner.teardown(kill)
  const copy = async (copies: Owner, how: readonly string[] = []) => {
    const place = await folderFor(copies, programs)
    const parameters = ['-d', address, '-D', place, '-c', 'fast', '--no-sync', ...how]
    await run(join(programs.folder, 'pg_basebackup'), parameters, programs.identity)
    return place
  }
  return {
    address,
    kill,
    async hasEnded() {
      await delay(1_000)
      return isGone()
    },
    async start() {
      const all = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', ...settings]
      const parameters = ['-D', folder, '-p', String(port), ...all.flatMap((setting) => ['-c', setting])]
      child = spawn(join(programs.folder, 'postgres'), parameters, {
        ...programs.identity,
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      await untilItAnswers(address, child)
    },
    async standby(more = []) {
      const place = await copy(owner, ['-R'])
      const follower = serverIn(place, await freePort(), owner, programs, [...settings, ...more])
      await follower.start()
      return follower
    },
    async backup(copies) {
      const kept = await copy(copies)
      return async (recovery) => {
        const place = await folderFor(copies, programs)
        await run('cp', ['-a', `${kept}/.`, place])
        await writeFile(join(place, 'recovery.signal'), '')
        const recovered = serverIn(place, await freePort(), copies, programs, [...settings, ...recovery])
        await recovered.start()
        return recovered
      }
    },
  }
}

async function folderFor(owner: Owner, { identity }: Programs, parent?: string): Promise<string> {
  const place = parent ?? (await createTestFolder(owner))
  const folder = join(place, 'server')
  await mkdir(folder, { mode: 0o700 })
  if (identity.uid !== undefined && identity.gid !== undefined) {
    for (const one of [place, folder]) await chown(one, identity.uid, identity.gid)
  }
  return folder
}

async function untilItAnswers(connectionString: string, child: ChildProcess): Promise<void> {
  let log = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-2_000)
  })
  while (child.exitCode === null && child.signalCode === null) {
    const client = new pg.Client({ connectionString })
    client.on('error', () => {})
    const isThere = await client.connect().then(
      () => true,
      () => false,
    )
    await client.end().catch(() => {})
    if (isThere) return
    await delay(50)
  }
  throw new Error(`the server ended with ${child.exitCode ?? child.signalCode}: ${log}`)
}

function identityOf(user: string) {
  const ask = (what: string) => Number(execFileSync('id', [what, user], { encoding: 'utf8' }))
  return { uid: ask('-u'), gid: ask('-g') }
}
