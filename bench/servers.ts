import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { isAbsolute, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import jwt from 'jsonwebtoken'
import { freePort } from '../test/helpers/process/free-port.ts'
import { processorSeconds } from './processor-time.ts'
import type { Scenario } from './scenarios.ts'

/** Something that can be loaded: the service, or one of its peers. */
export interface Contender {
  readonly name: string
  readonly title: string
  /** The names of the scenarios that it cannot take part in. */
  readonly lacks?: readonly string[]
  /** Below this folder's compiled output. */
  readonly script: string
  readonly environment: Readonly<Record<string, string>>
  /** Its table of species, if not that of the service. */
  readonly table?: string
  /** The embedded database's folder, where that is what it uses. */
  readonly dataDir?: string
}

/** One that runs. */
export interface Running extends Contender {
  readonly origin: string
  readonly pid: number
  /** From its start until it listens, in milliseconds. */
  readonly readyAfter: number
  memoryMegabytes(): number
  /** What it has used of the processors so far, in seconds; not a number where /proc does not tell. */
  processorSeconds(): number
  stop(): Promise<void>
}

/** Those who can take part in a scenario. */
export function participants(running: readonly Running[], { name }: Scenario): Running[] {
  return running.filter(({ lacks = [] }) => !lacks.includes(name))
}

/** The secret all of them verify tokens with. */
export const SECRET = 'only the benchmark knows this secret of its own'

/** A token of one caller for everything, good for longer than any run. */
export function token(): string {
  return jwt.sign({ sub: 'benchmark', scope: '*:read *:write' }, SECRET, { expiresIn: '12h' })
}

const SERVICE = '../../../dist/main.js'

/** The service on a PostgreSQL database. */
export function serviceOn(databaseUrl: string, settings: Readonly<Record<string, string>> = {}): Contender {
  return {
    name: 'service',
    title: 'halgraph',
    script: SERVICE,
    environment: { ...SHARED, ...SERVED, DATABASE_URL: databaseUrl, ...settings },
  }
}

const SHARED = { JWT_SECRET: SECRET, NODE_ENV: 'production' }
/** The settings of production, the log of requests included, which the peers do not write. */
const SERVED = { HOST: '127.0.0.1' }

/** What there is to compare uses: databases on PostgreSQL, of which each build of the service has its own. */
interface Uses {
  readonly own: string
  /** For a second copy of this build, whose difference from the first is the noise. */
  readonly again: string | undefined
  readonly other: { readonly folder: string; readonly url: string } | undefined
  /** For the service on an embedded database. */
  readonly dataDir: string
}

/** Everything there is to compare. */
export function contenders({ own, again, other, dataDir }: Uses): Contender[] {
  const onServer = { ...SHARED, DATABASE_URL: own }
  const peer = (name: string, title: string, lacks = ['dashboard', 'delete', 'batch']): Contender => ({
    name,
    title,
    lacks,
    script: `./peers/${name}.js`,
    environment: onServer,
  })
  return [
    serviceOn(own),
    ...(again === undefined ? [] : [{ ...serviceOn(again), name: 'again' }]),
    ...(other
      ? [{ ...serviceOn(other.url), name: 'against', script: join(other.folder, 'dist/main.js') }]
      : []),
    {
      ...peer('fastify', 'Fastify + Prisma, lean table', ['dashboard']),
      name: 'lean',
      table: 'lean.species',
      environment: { ...onServer, LEAN: 'true' },
    },
    peer('floor', 'floor: node:http + pg'),
    {
      ...peer('floor', 'floor that verifies no token'),
      name: 'open-floor',
      environment: { ...onServer, VERIFY_TOKENS: 'false' },
    },
    peer('fastify', 'Fastify + Prisma', ['dashboard']),
    peer('koa', 'Koa + Prisma'),
    peer('nest', 'NestJS + Prisma'),
    {
      name: 'embedded',
      title: 'halgraph, embedded',
      script: SERVICE,
      environment: { ...SHARED, ...SERVED, DATA_DIR: dataDir },
      dataDir,
    },
  ]
}

/** Starts one and waits until it listens. */
export async function start(contender: Contender): Promise<Running> {
  const began = performance.now()
  const script = isAbsolute(contender.script)
    ? contender.script
    : fileURLToPath(new URL(contender.script, import.meta.url))
  const port = await freePort()
  const child = spawn(process.execPath, [...(process.env['BENCH_NODE_OPTIONS']?.split(' ') ?? []), script], {
    env: { PATH: process.env['PATH'], PORT: String(port), ...contender.environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await untilListening(child, port, contender.name)
  return {
    ...contender,
    origin: `http://127.0.0.1:${port}`,
    pid: child.pid as number,
    readyAfter: performance.now() - began,
    memoryMegabytes: () => residentMegabytes(child),
    processorSeconds: () => processorSeconds(child.pid as number),
    stop: () => end(child),
  }
}

async function untilListening(child: ChildProcess, port: number, name: string): Promise<void> {
  while (child.exitCode === null) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    await setTimeout(5)
  }
  throw new Error(`${name} ended with status ${child.exitCode}`)
}

function residentMegabytes({ pid }: ChildProcess): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)])) / 1024
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
    globalThis.setTimeout(() => child.kill('SIGKILL'), 5_000).unref()
  })
}
