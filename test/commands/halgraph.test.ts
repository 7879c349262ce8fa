import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { WriteStream } from 'node:tty'
import { stripVTControlCharacters } from 'node:util'
import test from 'ava'
import { styled } from '../../src/service/terminal.ts'
import { createTestFolder } from '../helpers/database/database.ts'
import { runCommand as run, runIn } from '../helpers/service/commands.ts'
import { startProcess } from '../helpers/service/service-process.ts'

const { version, scripts } = JSON.parse(await readFile('package.json', 'utf8'))

/** The commands that `--help` lists. */
async function listedCommands(): Promise<string[]> {
  const { output } = await run('--help', {})
  return [...output.matchAll(/^ {2}([a-z]+) {2,}[A-Z]/gm)].map(([, name]) => name as string)
}

test('--version prints the version, and --help, or nothing, lists the commands', async (t) => {
  t.deepEqual(await run('--version', {}), { output: `${version}\n`, errors: '', status: 0 })
  const help = await run('--help', {})
  t.is(help.status, 0)
  t.is(help.errors, '')
  t.true((await listedCommands()).includes('token'))
  for (const name of ['-h', 'help']) t.deepEqual(await run(name, {}), help)
})

test('every program of src/commands is a command', async (t) => {
  const files = await readdir('src/commands')
  const texts = await Promise.all(
    files
      .filter((name) => name.endsWith('.ts'))
      .map(async (name) => [name, await readFile(`src/commands/${name}`, 'utf8')] as const),
  )
  const programs = texts.filter(([, text]) => text.includes('\nawait runCommand('))
  const names = programs.map(([name]) => name.replace('.ts', ''))
  t.deepEqual((await listedCommands()).sort(), ['dev', 'new', 'resource', 'start', ...names].sort())
})

test('each npm script and command that a document or a usage names exists', async (t) => {
  const documents = ['README.md', 'CONTRIBUTING.md', ...(await readdir('docs')).map((name) => `docs/${name}`)]
  const usages = await readdir('src', { recursive: true })
  const paths = [...documents.filter((name) => name.endsWith('.md')), ...usages.map((name) => `src/${name}`)]
  const commands = [...(await listedCommands()), 'help']
  for (const path of paths.filter((name) => /\.(md|ts)$/.test(name))) {
    const text = await readFile(path, 'utf8')
    for (const [, name = ''] of text.matchAll(/\bnpm run (?:--silent )?([a-z]+)/g))
      t.true(name in scripts, `${path}: npm run ${name}`)
    for (const [, name = ''] of text.matchAll(/\bnpx halgraph ([a-z]+)/g))
      t.true(commands.includes(name), `${path}: npx halgraph ${name}`)
  }
})

test('every command prints its usage, with a call of the executable', async (t) => {
  for (const name of await listedCommands()) {
    const { output, errors, status } = await run(name, {}, '--help')
    t.deepEqual([status, errors], [0, ''])
    t.true(output.includes(`npx halgraph ${name}`), output)
  }
})

test('an unknown command is exit status 2 and names --help', async (t) => {
  const folder = await createTestFolder(t)
  for (const name of ['tokens', '--versions', 'toString', '__proto__']) {
    const { output, errors, status } = await runIn(folder, name, {})
    t.deepEqual([status, output], [2, ''])
    t.is(errors, `Unknown command ${name}\nSee --help for the commands.\n`)
  }
  t.deepEqual(await readdir(folder), [])
})

test('a service that npm started in a shell ends with it', async (t) => {
  const folder = await createTestFolder(t)
  const start = `node ${resolve('bin/halgraph.js')} start && true`
  await writeFile(join(folder, 'package.json'), JSON.stringify({ scripts: { start } }))
  const npm = startProcess({ DATA_DIR: join(folder, 'data') }, t, ['npm', 'start', '--prefix', folder])
  const origin = await npm.origin
  npm.kill('SIGTERM')
  await npm.exited
  const isListening = () =>
    fetch(`${origin}/health/live`).then(
      ({ ok }) => ok,
      () => false,
    )
  for (const until = Date.now() + 30_000; await isListening(); await delay(100))
    if (Date.now() > until) return t.fail()
  t.regex(npm.output(), /stopping/)
})

test('colours appear only on a terminal, and never with NO_COLOR', async (t) => {
  const folder = await createTestFolder(t)
  const environment = { DATA_DIR: join(folder, 'none'), FORCE_COLOR: '1' }
  for (const [name, ...parameters] of [
    ['no-command'],
    ['doctor'],
    ['export', 'no-collection'],
    ['token', '--scopes'],
    ['resource'],
    ['new'],
  ] as const) {
    const { output, errors } = await run(name, environment, ...parameters)
    t.is(stripVTControlCharacters(output + errors), output + errors, name)
  }
  const terminal = (colours: boolean) => ({ isTTY: true, hasColors: () => colours }) as WriteStream
  t.not(styled(terminal(true), 'red', 'text'), 'text')
  t.is(styled(terminal(false), 'red', 'text'), 'text')
})

test('a file that cannot be read is one line and exit status 1', async (t) => {
  const folder = await createTestFolder(t)
  const { errors, status } = await run('export', { DATA_DIR: folder }, 'species', '--output', folder)
  t.is(status, 1)
  t.is(errors.trim().split('\n').length, 1, errors)
})

test('an error in the types of a domain names the file from the working folder, or whole outside of it', async (t) => {
  const folder = await createTestFolder(t)
  await mkdir(join(folder, 'domain'))
  await writeFile(join(folder, 'domain/bookings.ts'), "export const one: number = 'one'\n")
  await writeFile(join(folder, 'domain/index.ts'), "export * from './bookings.ts'\n")
  const { errors, status } = await runIn(folder, 'export', { DOMAIN: 'domain' }, 'bookings')
  t.is(status, 1)
  t.regex(errors, /^domain\/bookings\.ts[:(]1/m)
  const elsewhere = await run('export', { DOMAIN: join(folder, 'domain') }, 'bookings')
  t.true(elsewhere.errors.includes(`\n${join(folder, 'domain/bookings.ts')}(1`), elsewhere.errors)
})
