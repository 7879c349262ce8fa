import { readFileSync } from 'node:fs'
import { styled } from '../service/terminal.ts'

/** The purpose of each command, and what imports its file, which reads the arguments of the process. */
const commands: Readonly<Record<string, readonly [purpose: string, run: () => Promise<unknown>]>> = {
  new: ['Starts a domain of your own in a new folder', () => runBundle('new')],
  build: ['Builds the service and the domain, if they have changed', () => import('./build.ts')],
  start: ['Starts the service', () => import('../service/main.ts')],
  dev: ['Serves the domain while you change it', () => runBundle('dev')],
  seed: ['Adds the example catalogue, prisma/seed/catalogue.json', () => import('./seed.ts')],
  documents: ['Prints the OpenAPI document or the GraphQL schema', () => import('./documents.ts')],
  token: ['Prints an access token', () => import('./token.ts')],
  import: ['Imports a collection from a file', () => import('./import.ts')],
  adopt: ['Makes a domain of the tables of an existing database', () => import('./adopt.ts')],
  export: ['Exports a collection', () => import('./export.ts')],
  migrate: ['Applies the pending migrations', () => import('./migrate.ts')],
  namespace: [
    'Makes and removes the namespaces of a service that has several',
    () => import('./namespace.ts'),
  ],
  resource: ['Adds resources and writes their migrations', () => runBundle('resource')],
  test: ['Runs the tests of the domain', () => import('./test.ts')],
  restored: ['Prepares a database that was restored from a backup', () => import('./restored.ts')],
  doctor: ['Checks settings, database and rows', () => import('./doctor.ts')],
  studio: ['Opens Prisma Studio on the database', () => import('./studio.ts')],
}

function runBundle(name: string): Promise<unknown> {
  return import(new URL(`../${name}.js`, import.meta.url).href)
}

function usage(): string {
  return `A resource-oriented collection service: REST with HAL, translated into GraphQL over PostgreSQL.

  halgraph <command> [options]

${Object.entries(commands)
  .map(([name, [purpose]]) => `  ${name.padEnd(11)}${purpose}`)
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
  await commands[name]?.[1]()
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
