import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { openSharedDatabase } from '../../src/database/database.ts'
import { CommandError, runCommand } from '../../src/service/command.ts'
import { refuseUnfitOperations } from '../../src/service/features.ts'
import { openLog } from '../../src/service/observability/log.ts'
import { startService } from '../../src/service/server.ts'
import {
  type Configuration,
  databaseOptions,
  loadConfiguration,
} from '../../src/service/settings/configuration.ts'
import { applyMigrations } from '../../src/service/start/apply-migrations.ts'
import { tokenSettings } from '../../src/service/start/development-token.ts'
import { introduce } from '../../src/service/start/introduction.ts'
import { planUpdate, writeUpdate } from '../resource/migrate.ts'
import { updatedSchema } from '../resource/models/schema.ts'
import { refuseInvalidSchema } from '../resource/models/validate.ts'
import { createRowCounter } from '../resource/row-counter.ts'
import { createTable } from '../resource/tables/statements.ts'
import { makeTable } from '../resource/tables/table.ts'

/** What a version tells the command: it has written migrations, it can serve, or it serves. */
export interface Message {
  readonly kind: 'migrated' | 'ready' | 'serving'
  /** A digest of its tables, which its migrations make. */
  readonly tables: string
}

const DECIDE = 'Decide with npx halgraph resource migrate. The service goes on as it was.'

const tell = (message: Message) => process.send?.(message)

/** The command ends this process by disconnecting. */
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})

await runCommand('', { allowPositionals: true }, async ({ positionals: [formerTables = ''] }) => {
  const configuration = await loadConfiguration()
  const { domain } = configuration
  await refuseUnfitOperations(domain)
  const tables = digestOfTables(configuration)
  if (tables !== formerTables && (await writeMigrations(configuration)))
    return void tell({ kind: 'migrated', tables })
  // A client of other tables is refused while the former version serves.
  await databaseOptions(configuration).tables()
  for (const name of await applyMigrations(configuration)) console.log(`Applied ${name}`)
  tell({ kind: 'ready', tables })
  const [order] = await once(process, 'message')
  const service = await serve(configuration, order === 'introduce')
  process.once('disconnect', async () => {
    await service.close()
    process.exit()
  })
  tell({ kind: 'serving', tables })
})
// A version that was refused has nothing more to say.
if (process.exitCode && process.connected) process.disconnect()

async function writeMigrations({ domain: { resources, versions, folder } }: Configuration): Promise<boolean> {
  const { count, close } = createRowCounter()
  const decisions = { defaults: new Map(), allowDataLoss: false, allowInvalidRows: false }
  const update = await planUpdate(resources, folder, decisions, { versions, count })
    .catch((error: Error) => {
      if (!(error instanceof CommandError)) throw error
      throw new CommandError(`${error.message}\n${DECIDE}`)
    })
    .finally(close)
  if (update.files.size === 0) return false
  await refuseInvalidSchema(update.schema)
  await writeUpdate(update)
  if (update.explanation !== '') console.log(update.explanation)
  if (update.refusals !== '') throw new CommandError(`Not migrated:\n${update.refusals}\n${DECIDE}`)
  return true
}

function digestOfTables({ domain: { resources } }: Configuration): string {
  const tables = resources.map(makeTable)
  const parts = [
    updatedSchema('', resources),
    ...tables.flatMap(createTable),
    ...tables.map(({ foreignKeys }) => foreignKeys),
  ]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

async function serve(configuration: Configuration, isFirst: boolean) {
  const { logger } = await openLog(configuration.settings.logLevel)
  const tokens = await tokenSettings(configuration.settings)
  const service = await startService({
    ...configuration,
    tokens,
    open: openSharedDatabase,
    reportFault: (error, requestId) => logger.error({ err: error, requestId }, 'fault'),
    reportRequest: (request) => logger.info(request, 'request'),
  })
  if (isFirst && configuration.settings.jwt.kind === 'development')
    await introduce(service, configuration, tokens)
  return service
}
