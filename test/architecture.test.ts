import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import test from 'ava'
import { KINDS } from '../src/model/definition/fields.ts'

const GENERATED = 'database/generated'
const MAXIMUM_LINES = 250
/** The folder of the built-in domain. */
const DEFINITIONS = 'domain/resources/'

/** The kinds that have members, a relation, items, or a GraphQL type of their own. */
const STRUCTURES: readonly string[] = ['group', 'reference', 'list', 'enumeration']

interface SourceFile {
  /** Below src, as in `rest/hal.ts`. */
  readonly path: string
  readonly text: string
  /** The files of src it imports. */
  readonly imports: readonly string[]
  /** The packages it imports. */
  readonly packages: readonly string[]
}

async function readSources(): Promise<SourceFile[]> {
  const paths = await readdir('src', { recursive: true })
  const own = paths.filter((path) => path.endsWith('.ts') && !path.startsWith(GENERATED))
  return Promise.all(own.sort().map(async (path) => parse(path, await readFile(join('src', path), 'utf8'))))
}

function parse(path: string, text: string): SourceFile {
  const from = [
    ...text.matchAll(/^(?:import|export)\b[^'"]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm),
  ]
  const names = from.map(([, one, two, three]) => (one ?? two ?? three) as string)
  const [inside, packages] = [
    names.filter((name) => name.startsWith('.')),
    names.filter((name) => !name.startsWith('.')),
  ]
  return { path, text, packages, imports: inside.map((name) => normalize(join(dirname(path), name))) }
}

/** The layers, the lowest first. A file imports only from its own layer and those below. */
const LAYERS = [
  'observability',
  'model',
  'database',
  'domain',
  'http',
  'graph',
  'rest',
  'documents',
  'pages',
  'features',
  'service',
  'commands',
]

function layerOf(path: string): number {
  return LAYERS.indexOf(path.split('/')[0] as string)
}

/** What files import, as `importer → imported`. */
function importsOf(sources: readonly SourceFile[]): { importer: string; imported: string; text: string }[] {
  return sources.flatMap(({ path, imports }) =>
    imports.map((imported) => ({ importer: path, imported, text: `${path} → ${imported}` })),
  )
}

const sources = readSources()

test('imports run one way, from the process down to the model', async (t) => {
  t.true((await sources).length > 50)
  const upward = importsOf(await sources).filter(
    ({ importer, imported }) => layerOf(imported) > layerOf(importer),
  )
  t.deepEqual(
    upward.map(({ text }) => text),
    [],
  )
})

test('features do not import each other, and only the list of features imports one', async (t) => {
  const featureOf = (path: string) => /^features\/(\w+)\//.exec(path)?.[1]
  const imports = importsOf(await sources).filter(({ imported }) => featureOf(imported) !== undefined)
  t.true(imports.length > 10)
  const others = imports.filter(({ importer, imported }) => featureOf(importer) !== featureOf(imported))
  t.deepEqual(
    others.filter(({ importer }) => importer !== 'service/features.ts').map(({ text }) => text),
    [],
  )
})

test('http imports only the model and observability', async (t) => {
  const known = ['http/', 'model/', 'observability/']
  const others = importsOf(await sources).filter(
    ({ importer, imported }) =>
      importer.startsWith('http/') && !known.some((folder) => imported.startsWith(folder)),
  )
  t.deepEqual(
    others.map(({ text }) => text),
    [],
  )
})

test('no import leads back to the file it is in, types included', async (t) => {
  const imports = new Map((await sources).map(({ path, imports }) => [path, imports]))
  const finished = new Set<string>()
  const cycles: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
    if (finished.has(path) || trail.includes(path)) return
    for (const imported of imports.get(path) ?? []) visit(imported, [...trail, path])
    finished.add(path)
  }
  for (const path of imports.keys()) visit(path, [])
  t.deepEqual(cycles, [])
})

/** The packages that belong to some folders. */
const PACKAGES: readonly (readonly [folders: readonly string[], RegExp])[] = [
  [['database/'], /^(pg$|@electric-sql|@prisma\/adapter-pg)/],
  [['graph/', 'features/'], /^(graphql|@graphql|@apollo)/],
]

for (const [folders, packages] of PACKAGES) {
  test(`only ${folders.join(', ')} and the commands import ${packages.source}`, async (t) => {
    const importing = (await sources).filter((source) => source.packages.some((name) => packages.test(name)))
    t.true(importing.length > 0)
    t.deepEqual(
      importing
        .map(({ path }) => path)
        .filter((path) => ![...folders, 'commands/'].some((folder) => path.startsWith(folder))),
      [],
    )
  })
}

test('only the domain and the commands import the database', async (t) => {
  const others = importsOf(await sources).filter(
    ({ importer, imported }) =>
      imported.startsWith('database/') &&
      ['http/', 'rest/', 'graph/'].some((folder) => importer.startsWith(folder)),
  )
  t.deepEqual(
    others.map(({ text }) => text),
    [],
  )
})

test('resolvers and REST have sessions only: the client of the database does not leave the domain', async (t) => {
  const inside = ['database/', 'domain/', 'commands/']
  const outside = (await sources).filter(({ path }) => !inside.some((folder) => path.startsWith(folder)))
  const door = /^domain\/(?:session\/(?:session|reader|slot)|write)\.ts$/
  for (const { path, text, imports } of outside) {
    t.notRegex(text, /\bDatabaseClient\b/, path)
    if (!/^(?:graph|rest|features\/\w+\/(?:graphql|rest))\//.test(path)) continue
    t.notRegex(text, /\$rows|StatementClient|[cC]ontext\.client/, path)
    for (const name of imports.filter((name) => name.startsWith('domain/'))) t.regex(name, door, path)
  }
})

test('REST cannot execute anything itself: it is given what executes operations', async (t) => {
  for (const { path, text } of await sources) {
    if (path.startsWith('rest/')) t.notRegex(text, /createExecutor/, path)
  }
})

/** Names of the built-in domain, and of the library that test/domains serves. */
const NAMES = [
  /\b(?:species|planet|moon|astronaut|spacecraft|mission|crew|atmosphere)/i,
  /\b(?:authors|books?|loans?|copies)\b/i,
]

test('the engine names no resource of any domain', async (t) => {
  for (const { path, text } of await sources) {
    const isEngine = ['http/', 'rest/', 'graph/', 'domain/', 'database/', 'features/'].some((folder) =>
      path.startsWith(folder),
    )
    if (!isEngine || path.startsWith(DEFINITIONS)) continue
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    for (const names of NAMES) t.notRegex(code, names, path)
  }
})

test('definitions import the module for definitions and each other, and nothing imports them', async (t) => {
  const all = importsOf(await sources)
  const outside = all.filter(
    ({ importer, imported }) => importer.startsWith(DEFINITIONS) && !imported.startsWith(DEFINITIONS),
  )
  t.true(outside.length >= 10)
  t.deepEqual(
    outside.filter(({ imported }) => imported !== 'domain/definition.ts').map(({ text }) => text),
    [],
  )
  const inwards = all.filter(
    ({ importer, imported }) => imported.startsWith(DEFINITIONS) && !importer.startsWith(DEFINITIONS),
  )
  t.deepEqual(
    inwards.map(({ text }) => text),
    [],
  )
})

test('outside of its file, a kind of field is compared only for its structure', async (t) => {
  const others = KINDS.map(({ type }) => type).filter((type) => !STRUCTURES.includes(type))
  const comparison = new RegExp(`\\.type (?:===|!==) '(?:${others.join('|')})'`)
  const engine = (await sources).filter(({ path }) => !path.startsWith('model/kinds/'))
  t.deepEqual(
    engine.filter(({ text }) => comparison.test(text)).map(({ path }) => path),
    [],
  )
})

test(`no file is longer than ${MAXIMUM_LINES} lines, and half of them are shorter than 80`, async (t) => {
  const others = (await readdir('src', { recursive: true })).filter((path) => /\.(?:css|js|sql)$/.test(path))
  t.true(others.length > 10)
  for (const path of others) {
    const lines = (await readFile(join('src', path), 'utf8')).split('\n').length - 1
    t.true(lines <= MAXIMUM_LINES, `${path} has ${lines} lines`)
  }
  const lengths = (await sources).map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
  t.deepEqual(
    lengths.filter(({ lines }) => lines > MAXIMUM_LINES),
    [],
  )
  const sorted = lengths.map(({ lines }) => lines).sort((one, other) => one - other)
  t.true((sorted[sorted.length >> 1] as number) < 80)
})

test('a resource definition of ordinary size is under 60 lines', async (t) => {
  const definitions = (await sources).filter(
    ({ path, text }) => path.startsWith(DEFINITIONS) && text.includes('defineResource('),
  )
  const long = definitions.filter(({ text }) => text.split('\n').length > 60).map(({ path }) => path)
  t.true(definitions.length > 1)
  t.true(long.length <= definitions.length / 4, long.join(', '))
})
