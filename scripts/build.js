// @ts-check
import { buildDomainIfChanged, domainSetting } from './build-domain.js'
import { BuildError, buildIfChanged } from './build-service.js'

/**
 * Builds what has changed: the service, and the domain of the setting DOMAIN. A problem is printed, and the exit
 * status is then 1.
 *
 * @returns {Promise<boolean>} whether all is built
 */
export async function build() {
  try {
    await buildIfChanged()
    const domain = domainSetting()
    if (domain !== undefined) await buildDomainIfChanged(domain)
    return true
  } catch (error) {
    if (!(error instanceof BuildError)) throw error
    console.error(error.message)
    process.exitCode = 1
    return false
  }
}
