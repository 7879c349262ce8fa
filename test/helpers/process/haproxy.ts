import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'
import { createTestFolder } from '../database/database.ts'
import { freePort } from './free-port.ts'

const CONFIGURATION = 'deploy/fleet/haproxy.cfg'

/** HAProxy's executable. Undefined where it is not installed, with the reason printed. */
function findProgram({ log }: Pick<ExecutionContext, 'log'>): string | undefined {
  const program = ['haproxy', '/usr/sbin/haproxy'].find((one) => spawnSync(one, ['-v']).status === 0)
  if (program === undefined) log('not tried: haproxy is not installed')
  return program
}

/** What HAProxy says of the configuration of the fleet. Undefined where it is not installed. */
export async function checkConfiguration(t: ExecutionContext): Promise<string | undefined> {
  const program = findProgram(t)
  if (program === undefined) return undefined
  const { stdout, stderr } = await promisify(execFile)(program, ['-c', '-f', CONFIGURATION])
  return stdout + stderr
}

/** Starts HAProxy with the configuration of the fleet, for services at these ports. Undefined where it is not installed. */
export async function startHaproxy(
  t: ExecutionContext,
  ports: readonly number[],
): Promise<string | undefined> {
  const program = findProgram(t)
  if (program === undefined) return undefined
  const port = await freePort()
  const servers = ports.map((one) => `server halgraph-${one} 127.0.0.1:${one}`)
  const configuration = (await readFile(CONFIGURATION, 'utf8'))
    .replace('bind :3000', `bind 127.0.0.1:${port}`)
    .replace(/server-template .*/, servers.join('\n  '))
  const file = join(await createTestFolder(t), 'haproxy.cfg')
  await writeFile(file, configuration)
  const haproxy: ChildProcess = spawn(program, ['-db', '-f', file], { stdio: 'ignore' })
  t.teardown(async () => {
    haproxy.kill('SIGKILL')
    if (haproxy.signalCode === null && haproxy.exitCode === null) await once(haproxy, 'exit')
  })
  return `http://127.0.0.1:${port}`
}
