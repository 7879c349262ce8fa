import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildDomainIfChanged } from '../../../scripts/build-domain.js'
import {
  domainFolder,
  type LocatedDomain,
  loadDefinitions,
} from '../../../src/service/settings/domain-folder.ts'
import { planUpdate } from '../../../tools/resource/migrate.ts'
import { createTestFolder, type Owner } from '../database/database.ts'

const SOURCE = fileURLToPath(new URL('../../domains/library', import.meta.url))

/** A domain in a folder of its own. */
export interface Library {
  /** For the setting DOMAIN. */
  readonly path: string
  readonly domain: LocatedDomain
}

/**
 * Makes the library domain in a folder outside of the project: from the definitions, its migrations, its Prisma
 * schema, its Prisma client and its build.
 */
export async function makeLibrary(owner: Owner): Promise<Library> {
  const path = await createTestFolder(owner)
  await cp(SOURCE, path, { recursive: true })
  await buildDomainIfChanged(path)
  const domain = await loadDefinitions(domainFolder(path))
  const { files } = await planUpdate(domain.resources, domain.folder, NO_DECISIONS)
  for (const [file, text] of files) {
    const name = withFixedTime(file)
    await mkdir(dirname(name), { recursive: true })
    await writeFile(name, text)
  }
  await buildDomainIfChanged(path)
  return { path, domain }
}

const NO_DECISIONS = { defaults: new Map(), allowDataLoss: false }

/** Each state of the migrations leaves a template database behind; the time of a test must not make a new one. */
function withFixedTime(file: string): string {
  return file.replace(/\d{14}_(?=engine)/, '20260101000000_').replace(/\d{14}_(?=authors)/, '20260101000001_')
}
