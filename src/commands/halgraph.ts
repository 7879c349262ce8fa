import { readFileSync } from 'node:fs'
import { styled } from '../service/terminal.ts'

/** `run` imports the file of the command, which reads the arguments of the process. */
const commands: Readonly<Record<string, { purpose: string; run: () => Promise<unknown> }>> = {
  new: { purpose: 'Starts a domain of your own in a new folder', run: () => runBundle('new') },
  build: {
    purpose: 'Builds the service and the domain, if they have changed',
    run: () => import('./build.ts'),
  },
  start: { purpose: 'Starts the service', run: () => import('../service/main.ts') },
  dev: { purpose: 'Serves the domain while you change it', run: () => runBundle('dev') },
  seed: { purpose: 'Adds the example catalogue, prisma/seed/catalogue.json', run: () => import('./seed.ts') },
  documents: {
    purpose: 'Prints the OpenAPI document or the GraphQL schema',
    run: () => import('./documents.ts'),
  },
  token: { purpose: 'Prints an access token', run: () => import('./token.ts') },
  import: { purpose: 'Imports a collection from a file', run: () => import('./import.ts') },
  export: { purpose: 'Exports a collection', run: () => import('./export.ts') },
  migrate: { purpose: 'Applies the pending migrations', run: () => import('./migrate.ts') },
  resource: { purpose: 'Adds resources and writes their migrations', run: () => runBundle('resource') },
  test: { purpose: 'Runs the tests of the domain', run: () => import('./test.ts') },
  restored: {
    purpose: 'Prepares a database that was restored from a backup',
    run: () => import('./restored.ts'),
  },
  doctor: { purpose: 'Checks settings, database and rows', run: () => import('./doctor.ts') },
  studio: { purpose: 'Opens Prisma Studio on the database', run: () => import('./studio.ts') },
}

function runBundle(name: string): Promise<unknown> {
  return import(new URL(`../${name}.js`, import.meta.url).href)
}

function usage(): string {
  return `A resource-oriented collection service: REST with HAL, translated into GraphQL over PostgreSQL.

  halgraph <command> [options]

${Object.entries(commands)
  .map(([name, { purpose }]) => `  ${name.padEnd(11)}${purpose}`)
  .join('\n')}

  --help, -h       this text; after a command, its usage
  --version, -v    the version

Settings are environment variables or lines of a .env file in the working folder. In the folder of the project,
run \`npx halgraph <command>\`.`
}

const [name = '--help'] = process.argv.slice(2)
if (Object.hasOwn(commands, name)) {
  // The command reads its own options from what follows its name.
  process.argv.splice(2, 1)
  await commands[name]?.run()
} else if (name === '--help' || name === '-h' || name === 'help') {
  console.log(usage())
} else if (name === '--version' || name === '-v') {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  console.log((JSON.parse(manifest) as { version: string }).version)
} else {
  console.error(styled(process.stderr, 'red', `Unknown command ${name}`))
  console.error('See --help for the commands.')
  process.exitCode = 2
}
