import { createHash } from 'node:crypto'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildDomainIfChanged } from '../../../scripts/build-domain.js'
import {
  domainFolder,
  type LocatedDomain,
  loadDefinitions,
} from '../../../src/service/settings/domain-folder.ts'
import type { Settings } from '../../../src/service/settings/settings.ts'
import { planUpdate } from '../../../tools/resource/migrate.ts'
import { createServerDatabase, createTestFolder, madeOnce, type Owner } from '../database/database.ts'
import { FAST_FOLDER } from '../process/fast-folder.ts'
import { startTestService, type TestService } from '../service/service.ts'

const SOURCES = fileURLToPath(new URL('../../domains', import.meta.url))

/** What is hashed when the tests are built: all sources. */
const FINGERPRINT = fileURLToPath(new URL('../../dist/fingerprint', import.meta.url))

/** A domain in a folder of its own. */
export interface MadeDomain {
  /** For the setting DOMAIN. */
  readonly path: string
  readonly domain: LocatedDomain
}

/**
 * Makes a domain of `test/domains` in a folder outside of the project: from the definitions, its migrations, its Prisma
 * schema, its Prisma client and its build.
 *
 * @param written files that replace those of the domain, by name
 */
export async function makeDomain(
  owner: Owner,
  name: 'library' | 'workshop' | 'clinic' | 'venue' | 'bookshelf' | 'league',
  written: Readonly<Record<string, string>> = {},
): Promise<MadeDomain> {
  const path = await createTestFolder(owner)
  await cp(await domainTemplate(name, written), path, { recursive: true })
  await buildDomainIfChanged(path)
  return { path, domain: await loadDefinitions(domainFolder(path)) }
}

/** Made once by its content and by the sources that make it, for one folder of the project, which it links. */
async function domainTemplate(name: string, written: Readonly<Record<string, string>>): Promise<string> {
  const content = JSON.stringify([SOURCES, await readFile(FINGERPRINT, 'utf8'), name, written])
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16)
  return madeOnce(join(FAST_FOLDER, `hg-domain-${hash}`), async (path) => {
    await cp(join(SOURCES, name), path, { recursive: true })
    for (const [file, text] of Object.entries(written)) await writeFile(join(path, file), text)
    await buildDomainIfChanged(path)
    const domain = await loadDefinitions(domainFolder(path))
    const { files } = await planUpdate(domain.resources, domain.folder, NO_DECISIONS)
    for (const [file, text] of files) {
      const name = withFixedTime(file)
      await mkdir(dirname(name), { recursive: true })
      await writeFile(name, text)
    }
    await buildDomainIfChanged(path)
  })
}

/** Serves it in this process, with a database of its own. */
export async function serveDomain(
  owner: Owner,
  { domain }: MadeDomain,
  overrides: Partial<Settings> = {},
  server = process.env['TEST_DATABASE_URL'],
): Promise<TestService> {
  const place = server
    ? { databaseUrl: await createServerDatabase(server, owner) }
    : { dataDir: await createTestFolder(owner) }
  return startTestService(owner, { ...place, migrateOnStart: true, ...overrides }, { domain })
}

const NO_DECISIONS = { defaults: new Map(), allowDataLoss: false, allowInvalidRows: false }

/** Each state of the migrations leaves a template database behind; the time of a test must not make a new one. */
function withFixedTime(file: string): string {
  return file.replace(/\d{14}_(?=engine)/, '20260101000000_').replace(/\d{14}_(?=authors)/, '20260101000001_')
}
