import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Something that can be loaded: the service, or one of its peers. */
export interface Contender {
  readonly name: string
  readonly title: string
  readonly graphql: boolean
  /** Below this folder's compiled output. */
  readonly script: string
  readonly environment: Readonly<Record<string, string>>
  /** The embedded database's folder, where that is what it uses. */
  readonly dataDir?: string
}

/** One that runs. */
export interface Running extends Contender {
  readonly origin: string
  /** From its start to its first line, in milliseconds. */
  readonly readyAfter: number
  memoryMegabytes(): number
  stop(): Promise<void>
}

/** The secret all of them verify tokens with. */
export const SECRET = 'only the benchmark knows this secret of its own'

const SERVICE = '../../../dist/main.js'

/** Everything there is to compare, on one PostgreSQL database, and the service on an embedded one. */
export function contenders(databaseUrl: string, dataDir: string): Contender[] {
  const shared = { JWT_SECRET: SECRET, NODE_ENV: 'production', LOG_LEVEL: 'info' }
  const onServer = { ...shared, DATABASE_URL: databaseUrl }
  const service = { HOST: '127.0.0.1', PORT: '0' }
  const peer = (name: string, title: string): Contender => ({
    name,
    title,
    graphql: false,
    script: `./peers/${name}.js`,
    environment: onServer,
  })
  return [
    {
      name: 'service',
      title: 'halgraph',
      graphql: true,
      script: SERVICE,
      environment: { ...onServer, ...service },
    },
    peer('floor', 'floor: node:http + pg'),
    peer('fastify', 'Fastify + Prisma'),
    peer('koa', 'Koa + Prisma'),
    {
      name: 'embedded',
      title: 'halgraph, embedded',
      graphql: true,
      script: SERVICE,
      environment: { ...shared, ...service, DATA_DIR: dataDir },
      dataDir,
    },
  ]
}

/** Starts one and waits for the line in which it says where it listens. */
export async function start(contender: Contender): Promise<Running> {
  const began = performance.now()
  const script = fileURLToPath(new URL(contender.script, import.meta.url))
  const child = spawn(process.execPath, [...(process.env['BENCH_NODE_OPTIONS']?.split(' ') ?? []), script], {
    env: { PATH: process.env['PATH'], ...contender.environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const origin = await originOf(child, contender.name)
  return {
    ...contender,
    origin,
    readyAfter: performance.now() - began,
    memoryMegabytes: () => residentMegabytes(child),
    stop: () => end(child),
  }
}

function originOf(child: ChildProcess, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
    lines.on('line', (line) => {
      const { origin } = line.startsWith('{') ? (JSON.parse(line) as { origin?: string }) : {}
      if (origin) resolve(origin)
    })
    child.once('exit', (status) => reject(new Error(`${name} ended with status ${status}`)))
  })
}

function residentMegabytes({ pid }: ChildProcess): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)])) / 1024
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), 5_000).unref()
  })
}
