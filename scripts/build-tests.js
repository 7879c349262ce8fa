// @ts-check
// Importing this file builds what the tests run: the service, the domain of DOMAIN and the tests themselves, where
// their sources have changed. ava.config.js imports it, so a test never runs an old build.
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildDomainIfChanged } from './build-domain.js'
import { buildIfChanged } from './build-service.js'
import { buildOutput } from './output.js'

const project = fileURLToPath(new URL('..', import.meta.url))

/** Folders of TypeScript, each compiled to its own `dist`. */
const FOLDERS = ['tools', 'test', 'torture']

/**
 * Where the compiled form of a source folder is.
 *
 * @type {Record<string, string>}
 */
const OUTPUTS = { src: 'dist', ...Object.fromEntries(FOLDERS.map((folder) => [folder, `${folder}/dist`])) }

/**
 * The programs below a folder, and this file, which determines their output.
 *
 * @param {string} folder
 * @returns {string[]}
 */
function sourcesOf(folder) {
  const files = readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' })
  const programs = files.filter((file) => file.endsWith('.ts') && !/(^dist[./]|\.d\.ts$)/.test(file))
  return [...programs.sort(), '../scripts/build-tests.js', '../package-lock.json']
}

/**
 * Compiles each file by itself. The types are checked by `npm run check`.
 *
 * @param {string} folder
 * @returns {(made: string) => Promise<void>}
 */
function compile(folder) {
  return async (made) => {
    const { build } = await import('esbuild')
    await build({
      entryPoints: sourcesOf(folder).filter((file) => file.endsWith('.ts')),
      absWorkingDir: join(project, folder),
      outdir: made,
      outbase: join(project, folder),
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      sourcemap: 'linked',
      sourcesContent: false,
      plugins: [imports],
    })
  }
}

/**
 * Keeps every import, but of the compiled form of a source. `import.meta.url` becomes the address of the source,
 * so that files beside it are found. It is derived from that of the compiled file: a copy of the project tests itself.
 *
 * @type {import('esbuild').Plugin}
 */
const imports = {
  name: 'imports',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /./ }, ({ kind, path, importer }) => {
      if (kind === 'entry-point') return null
      if (!path.startsWith('.')) return { path, external: true }
      const target = compiled(resolve(dirname(importer), path))
      const moved = relative(dirname(compiled(importer)), target)
      return { path: moved.startsWith('.') ? moved : `./${moved}`, external: true }
    })
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const source = JSON.stringify(relative(dirname(compiled(path)), path))
      const contents = await readFile(path, 'utf8')
      return {
        loader: 'ts',
        contents: contents.replaceAll('import.meta.url', `new URL(${source}, import.meta.url).href`),
      }
    })
  },
}

/**
 * The compiled form of a file of the project.
 *
 * @param {string} path
 */
function compiled(path) {
  const [folder = '', ...inner] = relative(project, path).split('/')
  const output = OUTPUTS[folder]
  if (output === undefined || !path.endsWith('.ts') || !existsSync(path)) return path
  return join(project, output, ...inner).replace(/\.ts$/, '.js')
}

await buildIfChanged()
const domain = process.env['DOMAIN'] || undefined
if (domain) await buildDomainIfChanged(domain)
for (const folder of FOLDERS)
  await buildOutput(join(project, folder), () => sourcesOf(folder), compile(folder))
