import { domainFolder, loadDefinitions, loadTables } from '../../src/domain-folder.ts'

/** The domain that tests run against: of the folder DOMAIN, or the built-in one. */
export const domain = await loadDefinitions(domainFolder(process.env['DOMAIN']))

export const { resources } = domain

/** The domain's Prisma client and migrations. */
export const tables = await loadTables(domain)
