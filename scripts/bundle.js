// @ts-check
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'

/** The programs by the name of their bundle, at the top of the output. */
const PROGRAMS = {
  halgraph: 'src/commands/halgraph.ts',
  main: 'src/service/main.ts',
  resource: 'tools/resource/main.ts',
  new: 'tools/new/main.ts',
  testing: 'src/service/testing.ts',
  dev: 'tools/dev/main.ts',
  version: 'tools/dev/version.ts',
}

/** Modules of a domain, and those it imports: never duplicated, because error classes are compared by identity. */
export const SHARED =
  /^model\/|^domain\/(?:resources\/|(?:definition|typed-kinds)\.ts$)|^database\/generated\//

/** The Prisma client of the built-in domain, below `src`. */
const CLIENT = 'database/generated/client'

/**
 * Packages that remain in `node_modules`, beside Prisma's client, which a domain shares with the service. The embedded
 * database finds its files beside its modules; the others are optional.
 */
export const EXTERNAL = ['@electric-sql/pglite', '@electric-sql/pglite-socket', 'pg-native', 'pg-cloudflare']

/**
 * Packages for features that the service does not use: a serializer of graphql-jit, and encodings other than UTF-8 in
 * raw-body. They would be a fifth of the bundle.
 */
const UNUSED = /^(?:fast-json-stringify|iconv-lite)$/

/** How programs and tests are bundled. */
export const BUNDLED = /** @satisfies {import('esbuild').BuildOptions} */ ({
  bundle: true,
  format: /** @type {const} */ ('esm'),
  platform: /** @type {const} */ ('node'),
  target: 'node20',
  sourcemap: true,
  sourcesContent: false,
  minifyWhitespace: true,
  legalComments: /** @type {const} */ ('linked'),
  lineLimit: 120,
  logLevel: /** @type {const} */ ('silent'),
  mainFields: ['module', 'main'],
  define: {
    // On Node 20, pg would load undici to find out that it does not run in Cloudflare's.
    navigator: '{ "userAgent": "Node.js" }',
    // GraphQL checks each value for a second copy of itself: 2 % of the processor time of a list.
    'process.env.NODE_ENV': '"production"',
  },
  // CommonJS modules of packages require modules of Node.
  banner: {
    js: "import { createRequire as createRequireOf } from 'node:module'; const require = createRequireOf(import.meta.url);",
  },
})

/**
 * Bundles the programs with their packages, in place of the compiled ones, and what browsers load. A start loads 90
 * modules instead of 1,100, and takes half of the processor time. `NODE_OPTIONS=--enable-source-maps` makes stack traces
 * show the places in `src`.
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
  const programs = await build({
    ...BUNDLED,
    absWorkingDir: project,
    metafile: true,
    entryPoints: PROGRAMS,
    outdir: output,
    allowOverwrite: true,
    splitting: true,
    chunkNames: 'chunk-[hash]',
    external: [...EXTERNAL, ...Object.keys(peerDependencies)],
    plugins: [keepModules(sources), packages],
  })
  await build({
    ...BUNDLED,
    entryPoints: [join(sources, `${CLIENT}.ts`)],
    outfile: join(output, `${CLIENT}.js`),
    allowOverwrite: true,
    plugins: [packages],
  })
  const pages = await build({
    absWorkingDir: project,
    entryPoints: ['src/pages/**/*.js', 'src/pages/**/*.css'],
    outbase: 'src',
    outdir: output,
    metafile: true,
    bundle: true,
    format: 'esm',
    minify: true,
    logLevel: 'silent',
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [keepFiles],
  })
  await writeLicenses(project, output, [programs.metafile, pages.metafile])
}

/**
 * Writes the licences of the packages in the bundles, which an installation need not have in `node_modules`.
 *
 * @param {string} project
 * @param {string} output
 * @param {import('esbuild').Metafile[]} bundles
 */
async function writeLicenses(project, output, bundles) {
  const files = bundles
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap(({ inputs }) => Object.keys(inputs))
  const folders = new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []))
  const texts = [...folders].sort().map(async (folder) => {
    const read = (/** @type {string} */ file) => readFile(join(project, folder, file), 'utf8')
    const { name, version, license } = JSON.parse(await read('package.json'))
    const found = (await readdir(join(project, folder))).filter((file) => /^(licen[cs]e|notice)/i.test(file))
    return [`${name} ${version} (${license})`, ...(await Promise.all(found.map(read)))].join('\n\n')
  })
  await writeFile(join(output, 'LICENSES.txt'), (await Promise.all(texts)).join('\n\n'))
}

/**
 * Each file that a browser loads stays one of its own; packages become part of the file that imports them.
 *
 * @type {import('esbuild').Plugin}
 */
const keepFiles = {
  name: 'keep files',
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ importer, path }) =>
      /^$|node_modules/.test(importer) ? undefined : { path, external: true },
    )
  },
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

/**
 * Leaves out the unused packages, and takes GraphQL's ECMAScript modules only, of which a bundle keeps what is used.
 * Prisma's client is required, since Node 20 would search all of an imported CommonJS module for its exports.
 *
 * @type {import('esbuild').Plugin}
 */
export const packages = {
  name: 'packages',
  setup({ onResolve, onLoad }) {
    const { resolve } = createRequire(import.meta.url)
    onResolve({ filter: UNUSED }, ({ path }) => ({ path, namespace: 'unused' }))
    onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: '' }))
    onResolve({ filter: /^graphql\// }, ({ path }) => ({ path: resolve(path).replace(/\.js$/, '.mjs') }))
    onResolve({ filter: /^@prisma\/client\// }, ({ kind, path }) =>
      kind === 'import-statement' ? { path, namespace: 'required' } : { path, external: true },
    )
    onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = require('${path}')`,
    }))
  },
}
