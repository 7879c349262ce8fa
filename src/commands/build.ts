import { runCommand } from '../service/command.ts'

const usage = `Builds the service, if its sources have changed, and the domain of the setting DOMAIN.

  npx halgraph build

Every other command does the same first. An image or a package is built with it.`

// The executable has built everything before it loaded this file.
await runCommand(usage, {}, async () => {})
