import { exec } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { ArgumentsError, CommandError, runCommand } from '../../src/service/command.ts'
import { repositoryPath } from '../resource/location.ts'
import { projectFiles, type Versions } from './files.ts'

const usage = `Starts a domain: writes its definitions with one resource, and what builds, serves and deploys it.

  npx halgraph new my-catalogue   in a new folder
  npx halgraph new .              in this folder; existing files are kept`

/** What npm takes as the name of a package. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,213}$/

await runCommand(usage, { allowPositionals: true }, async ({ positionals }) => {
  const [path, ...others] = positionals
  if (path === undefined || others.length > 0) throw new ArgumentsError('Name one folder for the project.')
  const folder = resolve(path)
  const name = basename(folder)
  if (!NAME.test(name)) {
    throw new ArgumentsError(
      `${name} is not a valid package name. Use lower-case letters, digits and hyphens.`,
    )
  }
  if (existsSync(join(folder, 'index.ts'))) throw new CommandError(`${join(path, 'index.ts')} already exists`)
  await mkdir(folder, { recursive: true })
  for (const [file, text] of projectFiles(name, await readVersions(folder))) {
    if (existsSync(join(folder, file))) continue
    await writeFile(join(folder, file), text)
    console.log(`Wrote ${join(path, file)}`)
  }
  console.log(`
Next:
${path === '.' ? '' : `  cd ${path}\n`}  npm install
  npx halgraph dev`)
})

/** As this installation has them. A new project installs this package from where it came. */
async function readVersions(folder: string): Promise<Versions> {
  const { version, devDependencies } = await readPackage(repositoryPath('package.json'))
  const { '@types/node': types, prisma, typescript } = devDependencies as Omit<Versions, 'halgraph'>
  const isNew = !existsSync(join(folder, 'package.json'))
  const halgraph =
    isNew && existsSync(repositoryPath('src'))
      ? await packInto(folder)
      : await installedFrom(process.cwd(), folder)
  return { halgraph: halgraph ?? version, '@types/node': types, prisma, typescript }
}

/**
 * Packs this clone into the folder, because an image of the project contains only the files of its folder.
 *
 * @returns how npm names the archive
 */
async function packInto(folder: string): Promise<string> {
  const env = { ...process.env, npm_config_pack_destination: folder }
  const packing = promisify(exec)('npm pack --silent', { cwd: repositoryPath(''), env })
  const { stdout } = await packing.catch(({ stderr }) => {
    throw new CommandError(`npm cannot pack ${repositoryPath('')}:\n${stderr}`)
  })
  return `file:${stdout.trim()}`
}

/** How the nearest package that depends on this one names it; a file, relative to the new project. */
async function installedFrom(from: string, folder: string): Promise<string | undefined> {
  const file = join(from, 'package.json')
  const { dependencies = {} } = existsSync(file) ? await readPackage(file) : {}
  const { halgraph } = dependencies
  if (halgraph?.startsWith('file:'))
    return `file:${relative(folder, join(from, halgraph.slice('file:'.length))).replaceAll('\\', '/')}`
  return halgraph ?? (dirname(from) === from ? undefined : installedFrom(dirname(from), folder))
}

interface Package {
  readonly version: string
  readonly dependencies?: { readonly [name: string]: string }
  readonly devDependencies?: { readonly [name: string]: string }
}

async function readPackage(file: string): Promise<Package> {
  return JSON.parse(await readFile(file, 'utf8')) as Package
}
