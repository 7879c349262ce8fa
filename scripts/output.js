// @ts-check
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const OUTPUT = 'dist'
/** The fingerprint of the sources that the output was built from; written last. */
const FINGERPRINT = 'dist/fingerprint'

/** A lock that has not been renewed for this long belongs to a build that was killed. */
const STALE_MILLISECONDS = 10_000
const RETRY_MILLISECONDS = 100
const LONGEST_BUILD_MILLISECONDS = 600_000

/** @param {string} folder */
export function hasOutput(folder) {
  return existsSync(join(folder, FINGERPRINT))
}

/**
 * Whether the output of a folder is up to date.
 *
 * @param {string} folder
 * @param {string[]} sources files below the folder
 */
export function isCurrent(folder, sources) {
  return hasOutput(folder) && readFileSync(join(folder, FINGERPRINT), 'utf8') === fingerprint(folder, sources)
}

/**
 * Builds the output of a folder if its sources have changed since the last build. Builds that start at the same time
 * wait for each other, and a build that was killed leaves the output of the one before.
 *
 * @param {string} folder
 * @param {() => string[]} sources lists the files below the folder that the output depends on
 * @param {(made: string) => Promise<void | boolean>} make builds into a folder that does not exist yet. Resolves to false
 *   if something is missing, so that the next command builds again.
 */
export async function buildOutput(folder, sources, make) {
  if (isCurrent(folder, sources())) return
  const unlock = await lockBuild(folder)
  try {
    const files = sources()
    if (isCurrent(folder, files)) return
    // What killed builds left behind.
    const remains = readdirSync(folder).filter((name) => /^dist\.\d+(\.old)?$/.test(name))
    for (const name of remains) await rm(join(folder, name), { recursive: true, force: true })
    const built = fingerprint(folder, files)
    const made = join(folder, `${OUTPUT}.${process.pid}`)
    try {
      const isWhole = await make(made)
      await writeFile(join(made, 'fingerprint'), isWhole === false ? '' : built)
      // As a whole, so that nothing of deleted sources remains.
      const [output, old] = [join(folder, OUTPUT), `${made}.old`]
      if (existsSync(output)) await rename(output, old)
      await rename(made, output)
      await rm(old, { recursive: true, force: true })
    } finally {
      await rm(made, { recursive: true, force: true })
    }
  } finally {
    await unlock()
  }
}

/**
 * A hash of the names and contents of files.
 *
 * @param {string} folder
 * @param {string[]} files
 */
function fingerprint(folder, files) {
  const hash = createHash('sha256')
  for (const file of files) {
    const content = contentOf(join(folder, file))
    hash.update(`${file}\n${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

/**
 * Nothing of a file that has vanished meanwhile.
 *
 * @param {string} file
 */
function contentOf(file) {
  try {
    return readFileSync(file)
  } catch {
    return ''
  }
}

/**
 * Waits for any other build of the folder. Resolves to a function that lets the next one start.
 *
 * @param {string} folder
 */
async function lockBuild(folder) {
  const { lock } = (await import('proper-lockfile')).default
  const retries = { retries: LONGEST_BUILD_MILLISECONDS / RETRY_MILLISECONDS, factor: 1 }
  return lock(folder, {
    lockfilePath: join(folder, 'dist.lock'),
    stale: STALE_MILLISECONDS,
    retries: { ...retries, minTimeout: RETRY_MILLISECONDS, maxTimeout: RETRY_MILLISECONDS },
    // Another build took over because this one did not get the processor for long. Both produce the same output.
    onCompromised: () => {},
  })
}
