// @ts-check
import { existsSync, realpathSync } from 'node:fs'
import { mkdir, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BuildError } from './build-service.js'

const project = fileURLToPath(new URL('..', import.meta.url))

/** What a domain imports, and the folder of this installation that it must come from. */
const PACKAGES = [
  { name: 'halgraph', target: project },
  {
    name: '@prisma/client',
    target: join(createRequire(import.meta.url).resolve('@prisma/client/runtime/client'), '../..'),
  },
]

/**
 * Links the packages of this installation into the `node_modules` of the folder, if it belongs to another package. The
 * service and the domain must share them, because error classes are compared by identity.
 *
 * @throws {BuildError} when a package is of another installation, or a link cannot be made
 * @param {string} folder
 */
export async function linkPackages(folder) {
  for (const { name, target } of PACKAGES) {
    // Within a package, Node resolves its own name.
    if (name === 'halgraph' && packageOf(folder) === resolve(project)) continue
    const found = installed(folder, name)
    if (found === undefined) {
      await makeLink(join(folder, 'node_modules', name), target)
    } else if (found !== realpathSync(target)) {
      throw new BuildError(`DOMAIN: ${folder} uses ${found}, but the service that runs is in ${project}`)
    }
  }
}

/**
 * The folder of the package that a folder belongs to.
 *
 * @param {string} folder
 * @returns {string | undefined}
 */
export function packageOf(folder) {
  if (existsSync(join(folder, 'package.json'))) return resolve(folder)
  return dirname(folder) === folder ? undefined : packageOf(dirname(folder))
}

/** @param {string} link @param {string} target */
async function makeLink(link, target) {
  try {
    await mkdir(dirname(link), { recursive: true })
    await rm(link, { force: true })
    await symlink(target, link, 'junction')
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new BuildError(
      `DOMAIN: cannot link this installation into its folder, which needs halgraph as a dependency: ${message}`,
    )
  }
}

/**
 * The folder of a package that Node finds from another one. Node itself is not asked, because it would cache a miss.
 *
 * @param {string} folder
 * @param {string} name
 * @returns {string | undefined}
 */
function installed(folder, name) {
  const found = join(folder, 'node_modules', name)
  if (existsSync(found)) return realpathSync(found)
  return dirname(folder) === folder ? undefined : installed(dirname(folder), name)
}
