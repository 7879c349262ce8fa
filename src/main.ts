import pino from 'pino'
import { mintToken, tokenSettings } from './development-token.ts'
import { DatabaseRefusedError } from './domain/database/refused.ts'
import { type Service, startService } from './server.ts'
import { loadEnvironment, readSettings, type Settings, SettingsError } from './settings.ts'

/** The process: reads the settings, starts the service, and ends it when it is told to. */
async function main(): Promise<void> {
  loadEnvironment()
  const settings = readSettings(process.env)
  const logger = pino({ level: settings.logLevel })
  const tokens = await tokenSettings(settings)
  const reportFault = (error: unknown, requestId?: string) => logger.error({ err: error, requestId }, 'fault')
  const service = await startService({ settings, tokens, reportFault })
  logger.info({ origin: service.origin }, 'listening')
  if (settings.jwt.kind === 'development') introduce(service, settings, mintToken(tokens, EVERYTHING))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stop(service, logger))
  }
}

const EVERYTHING = { scope: '*:read *:write', expiresIn: '12h' }

/** Something to try at once, for whoever starts the service without settings. */
function introduce({ origin }: Service, { namespace, version }: Settings, token: string): void {
  process.stdout.write(`
halgraph serves ${origin}/${namespace}/${version} and ${origin}/graphql

A token for the next twelve hours, and a request to try it with:

  TOKEN=${token}
  curl -H "Authorization: Bearer ${token}" ${origin}/${namespace}/${version}/species

`)
}

async function stop(service: Service, logger: pino.Logger): Promise<void> {
  logger.info('stopping')
  await service.close()
  logger.info('stopped')
}

main().catch((error: unknown) => {
  const isRefusal = error instanceof SettingsError || error instanceof DatabaseRefusedError
  console.error(isRefusal ? error.message : error)
  process.exitCode = 1
})
