import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import test from 'ava'

const GENERATED = 'database/generated'
const MAXIMUM_LINES = 250

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

/** What the files of one folder import from another, as `importer → imported`. */
function between(sources: readonly SourceFile[], from: string, to: string): string[] {
  return sources
    .filter(({ path }) => path.startsWith(from))
    .flatMap(({ path, imports }) =>
      imports.filter((name) => name.startsWith(to)).map((name) => `${path} → ${name}`),
    )
}

const sources = readSources()

test('the domain knows neither GraphQL nor REST', async (t) => {
  t.true((await sources).length > 50)
  t.deepEqual(between(await sources, 'domain/', 'graph/'), [])
  t.deepEqual(between(await sources, 'domain/', 'rest/'), [])
  const packages = (await sources)
    .filter(({ path }) => path.startsWith('domain/'))
    .flatMap((source) => source.packages)
  t.deepEqual(
    packages.filter((name) => /^(graphql|@graphql|@apollo|koa|@koa)/.test(name)),
    [],
  )
})

test('GraphQL does not know REST, and leaves HTTP to the files in graph/http', async (t) => {
  t.deepEqual(between(await sources, 'graph/', 'rest/'), [])
  const withKoa = (await sources).filter(
    ({ path, packages }) => path.startsWith('graph/') && packages.includes('koa'),
  )
  t.deepEqual(
    withKoa.map(({ path }) => path).filter((path) => !path.startsWith('graph/http/')),
    [],
  )
})

/** The form of operations, how names are written, and how an error in front of /graphql looks. */
const REST_MAY_KNOW = [
  'graph/execution/operation.ts',
  'graph/http/error-document.ts',
  'graph/names.ts',
  'graph/rest-operations.ts',
]

test('REST knows of GraphQL the form of operations, names and errors, and cannot execute anything itself', async (t) => {
  const imported = between(await sources, 'rest/', 'graph/').map((pair) => pair.split(' → ')[1])
  t.deepEqual([...new Set(imported)].sort(), REST_MAY_KNOW)
  const statements = (await sources)
    .filter(({ path }) => path.startsWith('rest/'))
    .flatMap(({ text }) => text.match(/^import .*graph\/operation\.ts'/gm) ?? [])
  for (const statement of statements) t.notRegex(statement, /createPrepare/)
  const packages = (await sources)
    .filter(({ path }) => path.startsWith('rest/'))
    .flatMap((source) => source.packages)
  t.deepEqual(
    packages.filter((name) => /graphql|apollo/.test(name)),
    [],
  )
})

test('what any HTTP service needs, in http, knows nothing of this one', async (t) => {
  t.true((await sources).some(({ path }) => path.startsWith('http/')))
  for (const folder of ['domain/', 'graph/', 'rest/'])
    t.deepEqual(between(await sources, 'http/', folder), [])
  t.deepEqual(between(await sources, 'domain/', 'http/'), [])
})

/** Looks at tables as they are, whatever the definitions say. */
const LOOKS_BELOW = 'commands/doctor/'

test('only the domain, and the doctor, know Prisma and PostgreSQL', async (t) => {
  const reaching = (await sources).filter(
    ({ imports, packages }) =>
      imports.some((name) => name.startsWith(GENERATED)) ||
      packages.some((name) => /^(@prisma|@electric-sql|pg$)/.test(name)),
  )
  const others = reaching
    .map(({ path }) => path)
    .filter((path) => !path.startsWith('domain/') && !path.startsWith(LOOKS_BELOW))
  t.deepEqual(others, [])
})

test('only server.ts, and the command that writes the documents, know domain, GraphQL and REST all three', async (t) => {
  const knowing = (await sources).filter(({ imports }) =>
    ['domain/', 'graph/', 'rest/'].every((folder) => imports.some((name) => name.startsWith(folder))),
  )
  t.deepEqual(
    knowing.map(({ path }) => path).filter((path) => !path.startsWith('rest/')),
    ['commands/docs.ts', 'server.ts'],
  )
})

test(`no file is longer than ${MAXIMUM_LINES} lines, and half of them are shorter than 80`, async (t) => {
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
    ({ path, text }) => path.startsWith('domain/resources/') && text.includes('defineResource('),
  )
  const long = definitions.filter(({ text }) => text.split('\n').length > 60).map(({ path }) => path)
  t.true(definitions.length > 1)
  t.true(long.length <= definitions.length / 4, long.join(', '))
})
