// @ts-check
import { readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'

/** The programs, below `src`. */
const PROGRAMS = ['halgraph.ts', 'main.ts']

/** Modules that a domain imports or is: they remain single, since an error class is compared by identity. */
const SHARED = /^domain\/(?:model\/|resources\/|definition\.ts$)|^database\/generated\//

/**
 * Packages that remain in `node_modules`. A domain shares Prisma's client with the service, and the OpenTelemetry SDK its
 * API; the embedded database finds its files beside its modules; jsonc-parser cannot be bundled (UMD); the others are
 * optional.
 */
const EXTERNAL = [
  '@prisma/client',
  '@opentelemetry/api',
  '@electric-sql/pglite',
  '@electric-sql/pglite-socket',
  'jsonc-parser',
  'pg-native',
  'pg-cloudflare',
]

/** CommonJS modules of packages require modules of Node. */
const REQUIRE =
  "import { createRequire as createRequireOf } from 'node:module'; const require = createRequireOf(import.meta.url);"

/**
 * Bundles the programs with their packages, in place of the compiled ones. A start loads 150 modules instead of 1,100,
 * and takes two thirds of the processor time. `NODE_OPTIONS=--enable-source-maps` makes stack traces show the places in
 * `src`.
 *
 * The process keeps the text of its modules in memory: 8 MB of 43 with whitespace and comments, 3 MB without them. V8
 * takes two bytes for each character of a text that has a character outside Latin-1; esbuild escapes these, except in
 * tagged templates, so such templates have HTML entities instead.
 *
 * @param {string} project
 * @param {string} output
 */
export async function bundle(project, output) {
  const { build } = await import('esbuild')
  const { peerDependencies } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'))
  const sources = join(project, 'src')
  await build({
    absWorkingDir: project,
    entryPoints: PROGRAMS.map((file) => join(sources, file)),
    outdir: output,
    allowOverwrite: true,
    bundle: true,
    splitting: true,
    chunkNames: 'chunk-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    minifyWhitespace: true,
    legalComments: 'linked',
    lineLimit: 120,
    logLevel: 'silent',
    external: [...EXTERNAL, ...Object.keys(peerDependencies)],
    banner: { js: REQUIRE },
    plugins: [keepModules(sources)],
  })
}

/**
 * Leaves imports of shared modules as they are, and keeps `import.meta.url` of the bundled ones: what they locate by it
 * is relative to their place in `dist`, of which every part of the bundle is at the top.
 *
 * @param {string} sources
 * @returns {import('esbuild').Plugin}
 */
function keepModules(sources) {
  const compiled = (/** @type {string} */ path) => `./${relative(sources, path).replace(/\.ts$/, '.js')}`
  return {
    name: 'keep modules',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\..*\.ts$/ }, ({ importer, path }) => {
        const target = resolve(dirname(importer), path)
        return SHARED.test(relative(sources, target)) ? { path: compiled(target), external: true } : undefined
      })
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const place = `new URL(${JSON.stringify(compiled(path))}, import.meta.url).href`
        const contents = await readFile(path, 'utf8')
        return { loader: 'ts', contents: contents.replaceAll('import.meta.url', place) }
      })
    },
  }
}
