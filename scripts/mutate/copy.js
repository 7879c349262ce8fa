// @ts-check
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TRANSCRIPTS } from './run.js'

const project = fileURLToPath(new URL('../..', import.meta.url))

/** What tests run and are, and so what the measurement of their coverage depends on. */
const MEASURED = /^(src|test|tools|prisma|scripts|package-lock\.json)/

/**
 * A copy of the files that git knows or does not ignore, with hard links to the packages. Its build makes source maps.
 *
 * @typedef {{ readonly folder: string, readonly files: readonly string[], readonly fingerprint: string, readonly commit: string | undefined }} Copy
 * @returns {Promise<Copy>} `fingerprint` changes with the sources and the tests; `commit` has them, if one does
 */
export async function createCopy() {
  const folder = join(tmpdir(), 'halgraph-mutate')
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: project,
    encoding: 'utf8',
  })
  const files = listed.split('\n').filter((path) => path !== '' && existsSync(join(project, path)))
  await rm(folder, { recursive: true, force: true })
  const hash = createHash('sha256')
  for (const path of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await cp(join(project, path), join(folder, path))
    if (MEASURED.test(path)) hash.update(path).update(readFileSync(join(project, path)))
  }
  const build = join(folder, 'tsconfig.build.json')
  const settings = JSON.parse(await readFile(build, 'utf8'))
  settings.compilerOptions.sourceMap = true
  // Each fault changes one file.
  settings.compilerOptions.incremental = true
  settings.compilerOptions.tsBuildInfoFile = './build.tsbuildinfo'
  await writeFile(build, JSON.stringify(settings))
  // Some tests ask git which files there are.
  execFileSync('git', ['init', '-q'], { cwd: folder })
  execFileSync('git', ['add', '-A'], { cwd: folder })
  execFileSync('cp', ['-al', join(project, 'node_modules'), folder])
  const git = (/** @type {string[]} */ ...parameters) =>
    execFileSync('git', parameters, { cwd: project, encoding: 'utf8' }).trim()
  const commit = git('status', '--porcelain') === '' ? git('rev-parse', 'HEAD') : undefined
  return { folder, files, fingerprint: hash.digest('hex').slice(0, 16), commit }
}

/**
 * The test files of a run, and the transcripts by themselves; or the test files below some paths. Importing the
 * settings of ava builds the copy.
 *
 * @param {Copy} copy
 * @param {string} run `quick`, `ci` or `all`
 * @param {readonly string[]} [paths]
 * @returns {Promise<readonly string[]>}
 */
export async function listTests({ folder, files }, run, paths) {
  process.env['TEST_RUN'] = run
  const { default: config } = await import(join(folder, 'ava.config.js'))
  if (!paths) return [...new Set([TRANSCRIPTS, ...config.files])]
  return files.filter((file) => file.endsWith('.test.ts') && paths.some((path) => file.startsWith(path)))
}
