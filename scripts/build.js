// @ts-check
import { buildDomainIfChanged, domainSetting } from './build-domain.js'
import { BuildError, buildIfChanged } from './build-service.js'

/**
 * Builds what has changed: the service, and the domain of the setting DOMAIN. A problem is printed, and the exit
 * status is then 1.
 *
 * @param needsDomain false for the service alone
 * @param needsClient false for a command that can do without the Prisma client, and so with a schema that is not valid
 * @returns {Promise<boolean>} whether everything that is needed is built
 */
export async function build(needsDomain = true, needsClient = true) {
  try {
    await buildIfChanged(needsClient)
    const domain = domainSetting()
    if (needsDomain && domain !== undefined) await buildDomainIfChanged(domain, needsClient)
    return true
  } catch (error) {
    if (!(error instanceof BuildError)) throw error
    console.error(error.message)
    process.exitCode = 1
    return false
  }
}
