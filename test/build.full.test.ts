import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, realpath, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import type { Owner } from './helpers/database/database.ts'
import { createClone } from './helpers/process/clone.ts'

const JWT_SECRET = 'a secret that is long enough for it'
const TOKEN = /^ey[\w-]+\.[\w-]+\.[\w-]+\n$/
const BUILDING = /^Building the service/

async function cloneWithModules(owner: Owner): Promise<string> {
  const folder = await createClone(owner)
  await symlink(await realpath('node_modules'), join(folder, 'node_modules'))
  return folder
}

function start(folder: string) {
  return spawn(process.execPath, ['bin/halgraph.js', 'token'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], JWT_SECRET },
  })
}

async function run(folder: string) {
  const child = start(folder)
  const outputs = Promise.all([text(child.stdout), text(child.stderr)])
  const [status] = await once(child, 'close')
  const [output, errors] = await outputs
  return { output, errors, status }
}

let remove: () => unknown
const clone = cloneWithModules({
  teardown: (action) => {
    remove = action
  },
})
test.after.always(() => clone.finally(() => remove()))

test.serial('commands that start together in a fresh clone build once, the next one does not', async (t) => {
  const folder = await clone
  const results = await Promise.all([run(folder), run(folder), run(folder)])
  for (const { output } of results) t.regex(output, TOKEN)
  t.deepEqual(results.map(({ errors }) => errors.split('\n').length - 1).sort(), [0, 0, 1])
  const { output, errors } = await run(folder)
  t.regex(output, TOKEN)
  t.is(errors, '')
})

test.serial('the programs are of Latin-1 characters, of which V8 keeps one byte each', async (t) => {
  const output = join(await clone, 'dist')
  for (const file of await readdir(output)) {
    if (file.endsWith('.js')) t.notRegex(await readFile(join(output, file), 'utf8'), /.*[^\0-\xff].*/, file)
  }
})

test.serial(
  'the programs have GraphQL in one form, and no serializer or encodings that they do not use',
  async (t) => {
    const output = join(await clone, 'dist')
    const modules =
      /"[^"\n]*node_modules\/(?:graphql\/[^"]+\.js|(?:@cfworker|fast-json-stringify|iconv-lite)\/[^"]+)"/
    for (const file of await readdir(output)) {
      if (file.endsWith('.js')) t.notRegex(await readFile(join(output, file), 'utf8'), modules, file)
    }
  },
)

test.serial('a changed source is built, a touched one is not', async (t) => {
  const folder = await clone
  const touched = join(folder, 'src/service/observability/log.ts')
  await utimes(touched, new Date(), new Date())
  t.is((await run(folder)).errors, '')
  await writeFile(join(folder, 'src/extra.ts'), 'export const two = 2\n')
  t.regex((await run(folder)).errors, BUILDING)
  t.true((await readFile(join(folder, 'dist/extra.js'), 'utf8')).includes('two'))
})

test.serial('a source with an error stops the command with the place of the error', async (t) => {
  const folder = await clone
  await writeFile(join(folder, 'src/extra.ts'), "export const one: number = 'one'\n")
  const { output, errors, status } = await run(folder)
  t.deepEqual([status, output], [1, ''])
  t.regex(errors, /The build failed:\nsrc\/extra\.ts[:(]1/)
  t.notRegex(errors, /\n\s+at /)
})

test.serial(
  'after a killed build the next command builds, and nothing of deleted sources remains',
  async (t) => {
    const folder = await clone
    await rm(join(folder, 'src/extra.ts'))
    const killed = start(folder)
    await once(killed.stderr, 'data')
    killed.kill('SIGKILL')
    await once(killed, 'close')
    const { output, errors } = await run(folder)
    t.regex(output, TOKEN)
    t.regex(errors, BUILDING)
    await t.throwsAsync(stat(join(folder, 'dist/extra.js')), { code: 'ENOENT' })
  },
)

test('what is built holds no address of its folder, so a copy of the project runs and tests its own code', async (t) => {
  const project = `${process.cwd()}/`
  const addresses = [pathToFileURL(project).href, `"${project}`]
  for (const folder of ['dist', 'test/dist']) {
    const files = (await readdir(folder, { recursive: true })).filter((file) => /\.(js|map)$/.test(file))
    t.true(files.length > 0, folder)
    for (const file of files) {
      const content = await readFile(join(folder, file), 'utf8')
      t.deepEqual(
        addresses.filter((address) => content.includes(address)),
        [],
        `${folder}/${file}`,
      )
    }
  }
})
