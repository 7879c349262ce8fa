import { execFile } from 'node:child_process'
import { cp, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { createTestFolder } from '../helpers/database/database.ts'
import { isInstalled } from '../helpers/process/programs.ts'
import { buildClient } from '../helpers/service/openapi-client/build.ts'
import { shareTestService } from '../helpers/service/service.ts'

const run = promisify(execFile)
const service = shareTestService(test)
const folder = fileURLToPath(new URL('../../docs/clients/', import.meta.url))

function environment() {
  const { base, writer } = service()
  return { ...process.env, API: base, TOKEN: writer.authorization?.replace('Bearer ', '') }
}

/** Runs an example, and requires the lines that it prints. */
async function runs(t: ExecutionContext, program: string, parameters: readonly string[], cwd = folder) {
  for (let number = 0; number < 5; number++) {
    const { status } = await service().writer.post('/species', { scientific_name: `${t.title} ${number}` })
    t.is(status, 201)
  }
  const { stdout } = await run(program, [...parameters], { cwd, env: environment() })
  const [created, read, changed, ...refused] = stdout.trim().split('\n')
  t.regex(created ?? '', /^created Exemplum /)
  t.true(Number(/^read (\d+) species$/.exec(read ?? '')?.[1]) > 5, read)
  t.is(changed, 'second change with the old entity tag: 409')
  t.deepEqual(refused, ['refused: scientific_name REQUIRED_FIELD'])
}

test.serial('the example with curl works', async (t) => {
  if (await isInstalled(t, 'bash', 'curl', 'jq')) await runs(t, 'bash', ['client.sh'])
})

test.serial('the example in JavaScript works', (t) => runs(t, process.execPath, ['client.mjs']))

test.serial('the example in Python works', async (t) => {
  if (await isInstalled(t, 'python3')) await runs(t, 'python3', ['client.py'])
})

test.serial('the example in TypeScript passes the type check and works', async (t) => {
  const copy = await createTestFolder(t)
  await cp(join(folder, 'client.ts'), join(copy, 'client.ts'))
  await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(copy, 'node_modules'))
  const document = join(copy, 'openapi.json')
  await writeFile(document, (await service().anonymous.get('/openapi.json')).text)
  await buildClient(t, copy, document, 'client.ts')
  await runs(t, process.execPath, ['client.js'], copy)
})
