import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ClientBase } from 'pg'
import type { Resource } from '../../model/definition/resource.ts'
import { CommandError, databaseConfiguration, resourceNamed } from '../../service/command.ts'
import { recordedView } from '../import/recorded-rows.ts'
import { errorPath, type Progress, rulesPath, runImport } from '../import/run-import.ts'
import { operatorSessions, withDatabase } from '../shared-database.ts'
import { type Copied, rowsOf } from './source-rows.ts'

/**
 * Copies the rows of all tables, in the order of adopted.json, and those that refer to later ones in further rounds.
 *
 * @throws {CommandError} without adopted.json, or for a field that a definition lacks
 */
export async function copyRows(client: ClientBase, schema: string): Promise<void> {
  const configuration = await databaseConfiguration()
  const { domain, settings } = configuration
  const root = dirname(domain.folder.manifest)
  const text = await readFile(join(root, 'adopted.json'), 'utf8').catch(() => {
    throw new CommandError(`There is no adopted.json in ${root}: run adopt without --copy first`)
  })
  const tables = (JSON.parse(text) as Copied[]).map((one) => {
    const resource = resourceNamed(one.path, domain)
    const names = recordedView(resource).leaves.map(({ name }) => name)
    const unknown = Object.keys(one.columns).filter((field) => field !== 'id' && !names.includes(field))
    if (unknown.length > 0)
      throw new CommandError(
        `adopted.json: ${one.path} has no field ${unknown.join(', ')}; correct either of them`,
      )
    return { ...one, resource }
  })
  const folder = join(root, 'adopted')
  await mkdir(folder, { recursive: true })
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort())
  await withDatabase(configuration, async (database) => {
    const open = operatorSessions(configuration, database)
    const results = new Map<Copied, Progress>()
    const copy = async (one: Copied & { readonly resource: Resource }) => {
      const parts = {
        file: join(folder, one.path),
        rows: () =>
          rowsOf(client, `${client.escapeIdentifier(schema)}.${client.escapeIdentifier(one.table)}`, one),
        resource: one.resource,
        recorded: recordedView(one.resource),
        parent: undefined,
        replace: false,
        digest: createHash('sha256').update(one.path).digest('hex'),
        isDry: false,
        open,
      }
      const before = results.get(one)
      const progress = await runImport(parts, settings.databasePoolSize, interruption.signal, () => {})
      results.set(
        one,
        before
          ? { ...progress, skipped: before.skipped, imported: before.imported + progress.imported }
          : progress,
      )
      return progress.imported
    }
    const refused = () => tables.filter((one) => results.get(one)?.refused !== 0)
    // A row may refer to one that comes later: each round copies what the round before made possible.
    for (let count = 1; count > 0 && !interruption.signal.aborted; ) {
      count = 0
      for (const one of refused()) count += await copy(one)
    }
    for (const one of tables) tell(one, results.get(one), folder)
    if (interruption.signal.aborted) throw new CommandError('Interrupted. Run the same command to go on.')
    if (refused().length > 0) process.exitCode = 1
  })
}

function tell({ path, table }: Copied, progress: Progress | undefined, folder: string): void {
  if (!progress) {
    console.log(`${table}: not begun`)
    return
  }
  const { rows, imported, skipped, refused, breaking } = progress
  const [errors, rules] = [errorPath, rulesPath].map((of) => of(join(folder, path)))
  const more = [
    refused > 0 && `see ${errors}`,
    breaking > 0 && `${breaking} break rules of writes, see ${rules}`,
  ]
  const counts = `${rows} rows, ${imported} copied, ${skipped} there before, ${refused} refused`
  console.log([`${table}: ${counts}`, ...more.filter((one) => one !== false)].join('; '))
}
