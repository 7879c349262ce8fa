import { setTimeout as delay } from 'node:timers/promises'
import { openSharedEmbedded } from '../../src/database/embedded/embedded-database.ts'
import { ArgumentsError, runCommand } from '../../src/service/command.ts'
import { loadSettingsFile } from '../../src/service/settings/configuration.ts'
import { readSettings } from '../../src/service/settings/settings.ts'
import { repositoryPath } from '../resource/location.ts'
import { Versions } from './versions.ts'

const usage = `Serves the domain of the setting DOMAIN while you change it.

  npx halgraph dev

After each change of the definitions, the domain is built again. Migrations that need no decision are written and applied
to the database of the settings, as by npx halgraph resource migrate and npx halgraph migrate, and the service starts again
on the same port. A change with a mistake, or one that needs a decision, is reported, and the service goes on as it was.
Ctrl-C stops it.`

const POLL_MILLISECONDS = 150

type Build = typeof import('../../scripts/build-domain.js')

await runCommand(usage, {}, async () => {
  loadSettingsFile()
  const domain = process.env['DOMAIN']
  if (!domain) throw new ArgumentsError('DOMAIN: name the folder of the domain to serve')
  const build: Build = await import(repositoryPath('scripts/build-domain.js'))
  const database = await openDatabase()
  const versions = new Versions(() => build.buildDomainIfChanged(domain, false))
  let isStopping = false
  const stop = () => {
    versions.abandon(isStopping)
    // A second signal ends it immediately.
    if (isStopping) process.exit(1)
    isStopping = true
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  let known = { definitions: '', migrations: '' }
  try {
    while (!isStopping) {
      const { definitions, migrations } = build.stateOfSources(domain)
      if (definitions === known.definitions && migrations === known.migrations) {
        await delay(POLL_MILLISECONDS)
        continue
      }
      await versions.update()
      // The update itself writes migrations; definitions may have changed meanwhile.
      known = { definitions, migrations: build.stateOfSources(domain).migrations }
    }
  } finally {
    await versions.stop()
    await database?.close()
  }
})

/** This process keeps the embedded database open, so that versions start sooner. */
async function openDatabase() {
  const { JWT_SECRET, JWT_JWKS_URL, NODE_ENV, ...environment } = process.env
  const { databaseUrl, ...settings } = readSettings(environment)
  return databaseUrl === undefined ? openSharedEmbedded(settings.dataDir, settings) : undefined
}
