import { runCommand } from '../service/command.ts'
import { refuseUnfitOperations } from '../service/features.ts'
import { loadSettingsFile } from '../service/settings/configuration.ts'
import { domainFolder, loadDefinitions } from '../service/settings/domain-folder.ts'

const usage = `Builds the service, if its sources have changed, and the domain of the setting DOMAIN.

  npx halgraph build

Every other command does the same first. This one also checks the persisted GraphQL operations. An image or a
package is built with it.`

// The executable has built everything before it loaded this file.
await runCommand(usage, {}, async () => {
  loadSettingsFile()
  await refuseUnfitOperations(await loadDefinitions(domainFolder(process.env['DOMAIN'] || undefined)))
})
