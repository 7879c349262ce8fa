import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { projectFiles } from '../../tools/new/files.ts'
import { createTestFolder } from '../helpers/database/database.ts'
import { freePort } from '../helpers/process/free-port.ts'
import { PROCESS_TOKEN } from '../helpers/service/service-process.ts'

test('dev serves each version of the definitions that needs no decision, and goes on where one is needed', async (t) => {
  t.timeout(300_000)
  const folder = await createTestFolder(t)
  const versions = { halgraph: '0', '@types/node': '0', prisma: '0', typescript: '0' }
  const files = projectFiles('trial', versions)
  for (const name of ['index.ts', 'items.ts']) await writeFile(join(folder, name), files.get(name) as string)
  const port = await freePort()
  const { DATABASE_URL, ...inherited } = process.env
  const env = {
    ...inherited,
    DOMAIN: folder,
    DATA_DIR: join(folder, '.data'),
    PORT: String(port),
    DATABASE_TIMEOUT: '60000',
    JWT_SECRET: 'only the tests know this secret of theirs',
  }
  const child = spawn(process.execPath, [resolve('bin/halgraph.js'), 'dev'], { env })
  t.teardown(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const printed = async (pattern: RegExp) => {
    for (const until = Date.now() + 120_000; !pattern.test(output); await delay(50))
      if (Date.now() > until) return t.fail(`${pattern} is not in ${output}`)
    output = ''
  }
  const change = async (from: string, to: string) => {
    const text = await readFile(join(folder, 'items.ts'), 'utf8')
    t.true(text.includes(from))
    await writeFile(join(folder, 'items.ts'), text.replace(from, to))
  }
  const create = async (body: object) => {
    const headers = { Authorization: `Bearer ${PROCESS_TOKEN}`, 'Content-Type': 'application/json' }
    const url = `http://127.0.0.1:${port}/api/v1/items`
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    return response.status
  }

  await printed(/Serving the domain/)
  t.is(await create({ name: 'One' }), 201)
  const refusal = "[{ field: 'name', code: 'INVALID_VALUE', message: 'It is taken.' }]"
  await change('  example:', `  rules: [({ name }) => (name === 'Two' ? ${refusal} : [])],\n  example:`)
  await printed(/Serving the domain/)
  t.is(await create({ name: 'Two' }), 422)
  t.is(await create({ name: 'One' }), 409, 'the database is the same')
  await change('    contact: text(', "    weight: decimal(6, 2, 'Weight.'),\n    contact: text(")
  await printed(/The field weight is added[\s\S]*Applied \d+_items[\s\S]*Serving the domain/)
  t.is(await create({ name: 'Three', weight: '1.50' }), 201)
  await change("'Weight.')", "'Weight.') +")
  await printed(/items\.ts\(\d+,\d+\): error/)
  t.is(await create({ name: 'Four', weight: '1.50' }), 201)
  await change("'Weight.') +", "'Weight.', { required: true })")
  await printed(/items\.weight is required[\s\S]*npx halgraph resource migrate/)
  t.is(await create({ name: 'Five' }), 201)
  await change("'Weight.', { required: true })", "'Weight.')")
  await printed(/Serving the domain/)
  t.is(await create({ name: 'Six', weight: '2.00' }), 201)
  const vanishing = join(folder, 'web/build')
  for (const until = Date.now() + 3_000; Date.now() < until; await delay(1)) {
    for (let index = 0; index < 50; index++)
      await mkdir(join(vanishing, `${index}/deeper`), { recursive: true })
    await rm(vanishing, { recursive: true })
  }
  await change("'Weight.')", "'Mass.')")
  await printed(/Serving the domain/)
  child.kill('SIGTERM')
  t.deepEqual(await once(child, 'exit'), [0, null])
})
