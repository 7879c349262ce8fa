import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { domain } from '../../src/domain/resources/index.ts'
import { withEntry } from '../../tools/resource/new/list-entry.ts'
import { addResource, type NewArguments } from '../../tools/resource/new/new.ts'
import { createTestFolder } from '../helpers/database/database.ts'
import { runCommand } from '../helpers/service/commands.ts'

const run = promisify(execFile)

/** A copy of the definitions, beside links to the rest of the project. */
async function createSources(t: ExecutionContext) {
  const folder = await createTestFolder(t)
  const [definitions, tests] = [join(folder, 'src/domain/resources'), join(folder, 'test/rest')]
  await mkdir(join(folder, 'src/domain'), { recursive: true })
  await mkdir(tests, { recursive: true })
  await cp('src/domain/resources', definitions, { recursive: true })
  const linked = [
    ...(await readdir('src')).map((name) => `src/${name}`),
    ...(await readdir('src/domain')).map((name) => `src/domain/${name}`),
    ...['test/helpers', 'node_modules', 'package.json', 'tsconfig.json'],
  ].filter((path) => !['src/domain', 'src/domain/resources'].includes(path))
  for (const path of linked) await symlink(join(process.cwd(), path), join(folder, path))
  const add = (given: NewArguments) =>
    addResource(given, domain, { definitions, tests, module: '../definition.ts' })
  return { folder, definitions, tests, add }
}

test('new writes definitions and tests of each kind that the compiler and the linter accept', async (t) => {
  const { folder, definitions, add } = await createSources(t)
  const written = [
    ...(await add({ path: 'quay-cranes' })),
    ...(await add({ path: 'landing-sites', kind: 'owned', owner: 'planets' })),
    ...(await add({ path: 'insignia', kind: 'singleton', owner: 'missions', name: 'MissionInsignia' })),
  ]
  t.is(written.length, 9)
  const list = await readFile(join(definitions, 'index.ts'), 'utf8')
  t.regex(list, /,\n +quayCranes,\n +landingSites,\n +insignia,\n +\]/)
  const tsconfig = {
    extends: './tsconfig.json',
    compilerOptions: { rootDir: '/' },
    include: [],
    files: written,
  }
  await writeFile(join(folder, 'tsconfig.written.json'), JSON.stringify(tsconfig))
  await t.notThrowsAsync(
    run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', join(folder, 'tsconfig.written.json')]),
  )
  const biome = [
    'node_modules/@biomejs/biome/bin/biome',
    'ci',
    '--vcs-enabled=false',
    '--config-path=biome.json',
  ]
  await t.notThrowsAsync(run(process.execPath, [...biome, ...written]))
})

const REFUSALS: readonly [NewArguments, RegExp][] = [
  [{ path: 'Vessels' }, /path "Vessels" is not valid/],
  [{ path: 'planets' }, /There is a resource with the path planets/],
  [{ path: 'tombstones' }, /reserved/],
  [{ path: 'texts', name: 'planet' }, /The name "planet" is not valid/],
  [{ path: 'text' }, /cannot name a constant/],
  [{ path: 'worlds', name: 'Planet' }, /The name Planet clashes with .*Planet/],
  [{ path: 'questions', name: 'Query' }, /reserved/],
  [{ path: 'pages', name: 'SpeciesPage' }, /clashes with/],
  [{ path: 'decks', kind: 'owned' }, /needs --owner/],
  [{ path: 'decks', kind: 'owned', owner: 'moons' }, /moons is not a collection. Collections: species/],
  [{ path: 'decks', owner: 'planets' }, /A collection has no owner/],
  [{ path: 'missions-flown', kind: 'set' }, /--kind must be one of collection, owned, singleton/],
  [{ path: 'mass-jupiters', kind: 'owned', owner: 'planets', name: 'Mass' }, /Planet already has the field/],
  [{ path: 'crew-rules' }, /crew-rules\.ts already exists/],
]

test('new refuses names that are taken, reserved or not valid, and writes nothing', async (t) => {
  const { definitions, tests, add } = await createSources(t)
  const before = [await readdir(definitions), await readFile(join(definitions, 'index.ts'), 'utf8')]
  for (const [given, message] of REFUSALS) await t.throwsAsync(add(given), { message }, given.path)
  t.deepEqual([await readdir(definitions), await readFile(join(definitions, 'index.ts'), 'utf8')], before)
  t.deepEqual(await readdir(tests), [])
})

test('new adds to a list on one line, which is broken where it gets too long', (t) => {
  const list = (names: string) => `export const domain: Domain = { resources: [${names}] }\n`
  const short = `import { books } from './books.ts'\n\n${list('books')}`
  t.is(
    withEntry(short, 'authors'),
    `import { authors } from './authors.ts'\nimport { books } from './books.ts'\n\n${list('books, authors')}`,
  )
  const names = Array.from({ length: 12 }, (_, index) => `resource${index}`)
  t.regex(
    withEntry(list(names.join(', ')), 'authors'),
    /= \{\n {2}resources: \[\n {4}resource0,\n[\s\S]* {4}authors,\n {2}\],\n\}\n$/,
  )
  t.throws(() => withEntry('export const domain = { resources: all() }', 'authors'), { message: /by hand/ })
})

test('the command explains itself, and refuses unknown arguments', async (t) => {
  const help = await runCommand('resource', {}, '--help')
  t.is(help.status, 0)
  t.regex(help.output, /halgraph resource new vessels[\s\S]*--allow-data-loss/)
  for (const given of [[], ['migrate', 'now']]) {
    t.is((await runCommand('resource', {}, ...given)).status, 2, given.join(' '))
  }
})
