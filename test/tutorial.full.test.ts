import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { projectFiles } from '../tools/new/files.ts'
import { createTestFolder } from './helpers/database/database.ts'
import { freePort } from './helpers/process/free-port.ts'
import { isAsShown, readGuide, type Step } from './helpers/process/guide.ts'
import { isInstalled } from './helpers/process/programs.ts'
import { PROCESS_TOKEN } from './helpers/service/service-process.ts'

test('the tutorial works as it is written, on a project that is served meanwhile', async (t) => {
  t.timeout(1_200_000)
  if (!(await isInstalled(t, 'bash', 'curl', 'jq'))) return
  const folder = await createProject(t)
  const port = String(await freePort())
  const { DATABASE_URL, ...inherited } = process.env
  const env = {
    ...inherited,
    DOMAIN: folder,
    DATA_DIR: join(folder, '.data'),
    PORT: port,
    DATABASE_TIMEOUT: '60000',
    JWT_SECRET: 'only the tests know this secret of theirs',
    TOKEN: PROCESS_TOKEN,
    API: `http://127.0.0.1:${port}/api/v1`,
    HALGRAPH: resolve('bin/halgraph.js'),
  }
  const child = spawn(process.execPath, [env.HALGRAPH, 'dev'], { env })
  t.teardown(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  /** Resolves when `dev` has printed this since the last step. */
  const printed = async (shown: string) => {
    for (const until = Date.now() + 300_000; !isAsShown(output, shown); await delay(100))
      if (Date.now() > until) return t.is(output, shown)
    output = ''
  }
  await printed('…Serving the domain, …')
  const steps = await readGuide('../TUTORIAL', ['sh', 'ts'])
  t.true(steps.length > 7)
  for (const { language, code, shown = '…' } of steps) {
    if (language === 'ts') {
      await change(t, folder, code)
      if (!/^\/\/ \S+\.test\.ts/.test(code)) await printed(shown)
      continue
    }
    const script = `set -euo pipefail\n${code.replaceAll('npx halgraph', 'node "$HALGRAPH"')}`
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder, env })
    if (!isAsShown(stdout, shown)) t.is(stdout, shown, code)
    if (code.includes('halgraph resource')) await printed('…Serving the domain, …')
  }
  child.kill('SIGTERM')
  await once(child, 'exit')
})

/** What `npx halgraph new` and `npm install` make, without the packages. */
async function createProject(t: ExecutionContext): Promise<string> {
  const folder = await createTestFolder(t)
  const versions = { halgraph: '0', '@types/node': '0', prisma: '0', typescript: '0' }
  const files = projectFiles('my-catalogue', versions)
  for (const name of ['index.ts', 'items.ts', 'items.test.ts', 'package.json'])
    await writeFile(join(folder, name), files.get(name) as string)
  await mkdir(join(folder, 'node_modules/@types'), { recursive: true })
  await symlink(resolve('node_modules/@types/node'), join(folder, 'node_modules/@types/node'))
  return folder
}

/** A block begins with a comment: the file that it is, or the field of that file which it follows or replaces. */
async function change(t: ExecutionContext, folder: string, block: Step['code']): Promise<void> {
  const [first = '', ...lines] = block.split('\n')
  const [, name = '', place, field] = /^\/\/ (\S+?)(?:, (after|instead of) (\w+))?$/.exec(first) ?? []
  const file = join(folder, name)
  if (place === undefined) return writeFile(file, lines.join('\n'))
  const text = await readFile(file, 'utf8')
  const line = text.split('\n').find((candidate) => candidate.trim().startsWith(`${field}: `)) ?? ''
  t.not(line, '', first)
  const added = lines.join('\n').trimEnd()
  await writeFile(
    file,
    text.replace(line, () => (place === 'after' ? `${line}\n${added}` : added)),
  )
}
