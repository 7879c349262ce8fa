import { createHash } from 'node:crypto'
import { cp, lstat, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../database/database.ts'
import { readMigrations } from '../database/migrations/migration-files.ts'
import { createTemporaryDatabase } from '../database/temporary-database.ts'
import { databaseOptions } from './settings/configuration.ts'
import type { LocatedDomain } from './settings/domain-folder.ts'
import { readSettings } from './settings/settings.ts'

/**
 * Creates an empty database, as settings: on the PostgreSQL server of TEST_DATABASE_URL, or an embedded one in a temporary
 * folder.
 *
 * @throws {DefinitionError} if the domain has no Prisma client
 */
export async function createTestDatabase(domain: LocatedDomain) {
  const server = process.env['TEST_DATABASE_URL']
  if (server) {
    const { address, drop } = await createTemporaryDatabase(server)
    return { settings: { DATABASE_URL: address }, remove: drop }
  }
  const folder = await makeFolder()
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await cp(await migratedTemplate(domain), folder, { recursive: true })
    return { settings: { DATA_DIR: folder }, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/**
 * Creating and migrating a database takes most of a short test, so it is done once for each state of the migrations. The
 * template of the former state is removed.
 */
async function migratedTemplate(domain: LocatedDomain): Promise<string> {
  const prefix = `halgraph-template-${digest(domain.folder.schema)}-`
  const template = join(tmpdir(), prefix + (await fingerprint(domain)))
  if (await isOwn(template)) return template
  const former = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix))
  for (const name of former) await rm(join(tmpdir(), name), { recursive: true }).catch(() => {})
  const made = await makeFolder()
  const settings = readSettings({ DATA_DIR: made, DATABASE_TIMEOUT: '60000' }, [], domain)
  await (await openDatabase(databaseOptions({ settings, domain }))).close()
  await rename(made, template).catch(() => {})
  if (!(await isOwn(template))) return made
  // Another test may have been faster.
  await rm(made, { recursive: true, force: true })
  return template
}

/** Another user may have created this name in the shared folder. */
async function isOwn(folder: string): Promise<boolean> {
  const status = await lstat(folder).catch(() => undefined)
  return status?.isDirectory() === true && status.uid === process.getuid?.()
}

async function fingerprint({ folder }: LocatedDomain): Promise<string> {
  const migrations = await readMigrations(folder.migrations)
  const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  return digest([manifest, ...migrations.map(({ name, checksum }) => `${name} ${checksum}`)].join('\n'))
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** Only its user can access it. */
function makeFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'halgraph-'))
}
