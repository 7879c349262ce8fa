import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { Sent } from '../test/helpers/load/load.ts'
import { KINDS, type Kind } from './hostile-kinds.ts'
import { get } from './requests.ts'

/** Whether wrk (Debian package `wrk`), which sends the requests, is installed. */
export function hasWrk(): Promise<boolean> {
  return new Promise((resolve) => {
    execFile('wrk', ['-v'], (error) => resolve(error?.code !== 'ENOENT'))
  })
}

export const ATTACKS = Object.keys(KINDS) as readonly (keyof typeof KINDS)[]

/** The table that another transaction must hold locked while a caller of this kind attacks. */
export function lockedTable(kind: keyof typeof KINDS): string | undefined {
  return (KINDS[kind] as Kind).locked
}

/** So that a machine is not simply busy with what is expensive to send, too. */
const PAUSE_MILLISECONDS = 50

/** What one caller does to a service. */
export interface Attack {
  readonly origin: string
  readonly kind: keyof typeof KINDS
  readonly seconds: number
}

/** Lets the caller do its worst, and says how it was answered. */
export async function attack({ origin, kind, seconds }: Attack): Promise<string> {
  const { connections, ...requests }: Kind = KINDS[kind]
  if (connections > 0) return flood(origin, connections, seconds, scriptOf(requests))
  const sockets = Array.from({ length: 60 }, () => openUnread(origin))
  await delay(seconds * 1_000)
  for (const socket of sockets) socket.destroy()
  return `${sockets.length} unread`
}

/** Sends requests with wrk, which takes little of the processor's time: a caller has a machine of its own. */
async function flood(origin: string, connections: number, seconds: number, script: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hg-'))
  const file = join(folder, 'requests.lua')
  await writeFile(file, script)
  const child = spawn('wrk', [
    '-t1',
    `-c${connections}`,
    `-d${seconds}`,
    '--timeout',
    '30s',
    '-s',
    file,
    origin,
  ])
  await once(child, 'spawn')
  setPriority(child.pid as number, 19)
  const output = await text(child.stdout)
  await rm(folder, { recursive: true })
  const count = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? 0)
  const [all, refused] = [count(/(\d+) requests in/), count(/Non-2xx or 3xx responses: (\d+)/)]
  return `${all} answered, ${refused} of them refused`
}

/** Different requests of a kind that makes them; more than are sent. */
const MADE_REQUESTS = 10_000

/** The script of wrk that sends these requests in turn. */
function scriptOf({
  requests,
  pause = PAUSE_MILLISECONDS,
  pipelined = 1,
}: Omit<Kind, 'connections'>): string {
  const made = requests.flatMap((request) =>
    typeof request === 'function'
      ? Array.from({ length: MADE_REQUESTS }, (_, number) => request(number))
      : request,
  )
  return `local requests = {}
${made.map((sent) => `requests[#requests + 1] = ${lua(requestText(sent).repeat(pipelined))}`).join('\n')}
local number = 0
function request() number = number % #requests + 1 return requests[number] end
${pause > 0 ? `function delay() return ${pause} end` : ''}`
}

function requestText({ method, path, body, headers }: Sent): string {
  const content = body === undefined ? '' : JSON.stringify(body)
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: x',
    ...Object.entries({ 'content-type': 'application/json', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
    `Content-Length: ${Buffer.byteLength(content)}`,
  ]
  return `${lines.join('\r\n')}\r\n\r\n${content}`
}

/** A text as a literal of Lua, whose escapes are those of JSON where they matter here. */
function lua(value: string): string {
  return `"${value.replace(/[\\"]/g, '\\$&').replaceAll('\r', '\\r').replaceAll('\n', '\\n')}"`
}

function openUnread(origin: string): Socket {
  const { hostname, port } = new URL(origin)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  socket.write(requestText(get('missions?limit=100')))
  return socket
}
