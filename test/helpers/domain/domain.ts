import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { domainFolder, loadDefinitions, loadTables } from '../../../src/service/settings/domain-folder.ts'

const path = process.env['DOMAIN'] || undefined

/** The domain that tests run against: of the folder DOMAIN, or the built-in one. */
export const domain = await loadDefinitions(domainFolder(path))

export const { resources } = domain

/** The domain's Prisma client and migrations. */
export const tables = await loadTables(domain)

const overrides = await (path === undefined
  ? import('./fixture-overrides.ts')
  : import(fileIn(path, 'fixture-overrides.js')))

/**
 * What the bodies of a resource must be for its rules to let them pass, where its fields alone do not tell, by path.
 * Everything else about a fixture follows from the definition.
 */
export const fixtureOverrides: Readonly<Record<string, object>> = overrides.fixtureOverrides

/** The claims of callers that the access rules do not limit. */
export const unlimitedClaims: Readonly<Record<string, unknown>> = overrides.claims ?? {}

function fileIn(folder: string, name: string): string {
  return pathToFileURL(resolve(folder, name)).href
}
