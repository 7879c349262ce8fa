import { run as compare } from './compare.ts'
import { run as growth } from './growth.ts'
import { run as soak } from './soak.ts'
import { run as workers } from './workers.ts'

const usage = `What the service is measured with. PostgreSQL is --server, or one without a password on this machine.

  npm run bench                  the service beside a second copy of it, and a lean peer
      -- [--against COMMIT, beside its build of that commit, too]
      [--rows N --rounds N --seconds N --connections N]
      [--only again,lean,fastify,floor,open-floor,koa,nest,embedded] [--scenarios one,list,mixed,…]
  npm run bench -- growth        10,000 rows beside 1,000,000; every page by link; every filter and sort
      [--large N --rounds N --seconds N]
  npm run bench -- soak          memory and latency, minute by minute
      [--minutes N]
  npm run bench -- workers       one process beside several
      [--processes N --rounds N --seconds N --share PART-OF-A-PROCESSOR]`

const commands: Record<string, (commandLine: string[]) => Promise<void>> = { compare, growth, soak, workers }

const [first = 'compare', ...rest] = process.argv.slice(2)
const isOption = first.startsWith('--') && first !== '--help'
const command = isOption ? compare : commands[first]
if (command) {
  await command(isOption ? [first, ...rest] : rest)
} else {
  console.log(usage)
  process.exitCode = first === '--help' ? 0 : 2
}
