// @ts-check
// Importing this file builds what the tests run: the service, the domain of DOMAIN and the tests themselves, where
// their sources have changed. ava.config.js imports it, so a test never runs an old build.
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildDomainIfChanged } from './build-domain.js'
import { buildIfChanged } from './build-service.js'
import { BUNDLED, EXTERNAL, packages, SHARED } from './bundle.js'
import { buildOutput } from './output.js'

const project = fileURLToPath(new URL('..', import.meta.url))

/** Folders of TypeScript, which are bundled together into `test/dist`. */
const FOLDERS = ['test', 'tools', 'torture']

/** Programs among them, which are no tests: they run as processes or threads of their own. */
const PROGRAMS = [
  'test/helpers/database/open-database-process.ts',
  'test/helpers/domain/versioned-domain.ts',
  'test/helpers/process/prepare.ts',
  'test/restricted-engine/start.ts',
  'test/restricted-engine/thread.ts',
  'test/screenshots/take.ts',
  'tools/docs/main.ts',
  'torture/main.ts',
]

/**
 * The sources of a folder, below the project. Tests import some scripts of pages.
 *
 * @param {string} folder
 */
function sourcesOf(folder) {
  const files = readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' })
  return files
    .filter((file) => /\.[jt]s$/.test(file) && !/((^|\/)dist[./]|\.d\.ts$|generated\/)/.test(file))
    .map((file) => `${folder}/${file}`)
    .sort()
}

const isTest = (/** @type {string} */ file) => /\.test\.ts$|^test\/suites\//.test(file)

/**
 * Bundles the tests with what they import of the service and with its packages: a process takes
 * half a second of processor time less. The types are checked by `npm run check`.
 *
 * @param {string} made
 */
async function bundleTests(made) {
  const { build } = await import('esbuild')
  const { dependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
  // Tests register a provider of spans, which must be that of the service.
  const kept = [...EXTERNAL, '@opentelemetry/api']
  const own = Object.keys(dependencies).filter((name) => !kept.includes(name))
  const { outputFiles = [] } = await build({
    ...BUNDLED,
    absWorkingDir: project,
    entryPoints: [...sourcesOf('test').filter(isTest), ...PROGRAMS],
    outdir: made,
    outbase: project,
    splitting: true,
    chunkNames: 'chunk-[hash]',
    minifyWhitespace: false,
    legalComments: 'none',
    sourcemap: 'linked',
    write: false,
    banner: {
      js: `${BUNDLED.banner.js} const projectUrl = import.meta.url.replace(/test\\/dist\\/.*/, '');`,
    },
    plugins: [keepPlaces, packages, keepOtherPackages(own)],
  })
  for (const { path, text } of outputFiles) {
    await mkdir(dirname(path), { recursive: true })
    const place = relative(dirname(path), project)
    await writeFile(path, text.replaceAll(`"${project}`, `"${place}/`))
  }
}

/**
 * `import.meta.url` of a test or a tool stays the address of its source, so that files beside it are found, and that of the
 * service the address of its compiled form. What domains share with the service is imported in that form, and scripts as
 * they are.
 *
 * @type {import('esbuild').Plugin}
 */
const keepPlaces = {
  name: 'keep places',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
      const target = resolve(resolveDir, path)
      const place = relative(project, target)
      if (SHARED.test(relative('src', place))) return { path: join(project, compiled(place)), external: true }
      return place.startsWith('scripts/') ? { path: target, external: true } : undefined
    })
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const place = `new URL(${JSON.stringify(compiled(relative(project, path)))}, projectUrl).href`
      const contents = await readFile(path, 'utf8')
      return { loader: 'ts', contents: contents.replaceAll('import.meta.url', place) }
    })
  },
}

/** @param {string} place */
function compiled(place) {
  return place.startsWith('src/') ? place.replace(/^src\/(.*)\.ts$/, 'dist/$1.js') : place
}

/**
 * Leaves packages that only tests use in `node_modules`.
 *
 * @param {readonly string[]} bundled
 * @returns {import('esbuild').Plugin}
 */
function keepOtherPackages(bundled) {
  return {
    name: 'keep other packages',
    setup({ onResolve }) {
      onResolve({ filter: /^[^./]/ }, ({ path, importer }) => {
        const isOwn =
          importer.includes('/node_modules/') || bundled.some((name) => `${path}/`.startsWith(`${name}/`))
        return isOwn || path.startsWith('node:') ? undefined : { path, external: true }
      })
    },
  }
}

await buildIfChanged()
const domain = process.env['DOMAIN'] || undefined
if (domain) await buildDomainIfChanged(domain)
await buildOutput(
  join(project, 'test'),
  () =>
    [
      ...['src', ...FOLDERS].flatMap(sourcesOf),
      'scripts/build-tests.js',
      'scripts/bundle.js',
      'package-lock.json',
    ].map((file) => `../${file}`),
  bundleTests,
)
