import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { tableName } from '../../src/model/definition/resource.ts'
import { createEmbedded } from '../helpers/database/database.ts'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { resources } from '../helpers/domain/domain.ts'
import { startTestService, type TestService } from '../helpers/service/service.ts'
import { openStudio, wordsOf } from '../helpers/service/studio.ts'

test.serial(
  'Studio shows the rows of the embedded database of a running service, and changes them',
  async (t) => {
    const { dataDir } = await createEmbedded(t)
    const service = await startTestService(t, { databaseUrl: undefined, dataDir, migrateOnStart: true })
    await editInStudio(t, service, { DATA_DIR: dataDir })
  },
)

test.serial('Studio shows the rows of a PostgreSQL server, and changes them', async (t) => {
  const server = findServer((reason) => t.log(reason))
  if (!server) return t.pass()
  const databaseUrl = await createDatabaseOn(server, t)
  // The drivers of the service and of Studio do not know the same parameters.
  const address = `${databaseUrl}?sslmode=disable`
  await editInStudio(t, await startTestService(t, { databaseUrl }), { DATABASE_URL: address })
})

test("Prisma's own commands need no engine, and its Studio says what to set", async (t) => {
  const run = (...parameters: string[]) =>
    promisify(execFile)('node_modules/.bin/prisma', parameters, {
      env: {
        PATH: process.env['PATH'],
        PRISMA_ENGINES_MIRROR: 'http://127.0.0.1:1',
        CHECKPOINT_DISABLE: '1',
      },
    })
  await t.notThrowsAsync(run('validate'))
  await t.notThrowsAsync(run('format', '--check'))
  const studio = await t.throwsAsync<Error & { stderr: string }>(run('studio', '--browser', 'none'))
  t.is(
    studio?.stderr,
    'Set DATABASE_URL, or run `npx halgraph studio`, which also opens the embedded database.\n',
  )
  const migrate = await t.throwsAsync<Error & { stderr: string }>(run('migrate', 'status'))
  t.regex(migrate?.stderr ?? '', /`npx halgraph migrate` applies migrations/)
})

/** Changes a name in Studio's own page, and looks at what has become of it over REST. */
async function editInStudio(t: ExecutionContext, { writer }: TestService, environment: NodeJS.ProcessEnv) {
  const created = await writer.put('/planets/kepler-442b', { id: 'kepler-442b', name: 'Kepler-442b' })
  const page = await openStudio(t, environment)
  if (!page) return t.pass()
  // It opens on a table of the catalogue, and lists no others.
  await page.getByText('scientific_name', { exact: true }).first().waitFor()
  const words = await wordsOf(page)
  for (const { path } of resources) t.true(words.includes(tableName(path)), path)
  for (const name of ['_prisma_migrations', 'tombstones', 'tombstone_sets', 'row_counts', 'idempotency_keys'])
    t.false(words.includes(name), name)
  await page.getByText('planets', { exact: true }).click()
  await page.getByText('Kepler-442b', { exact: true }).dblclick()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('Changed in Studio')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('button', { name: 'Save 1 row' }).click()
  await page.getByRole('button', { name: 'yes, write to db' }).click()
  await page.getByText('Save 1 row').waitFor({ state: 'detached' })
  const changed = await writer.get('/planets/kepler-442b')
  t.is(changed.body.name, 'Changed in Studio')
  t.not(changed.headers.get('etag'), created.headers.get('etag'))
  t.true(changed.body.last_updated > created.body.last_updated)
  const stale = { 'if-match': created.headers.get('etag') ?? '' }
  t.is((await writer.put('/planets/kepler-442b', { name: 'Late' }, stale)).status, 409)
}
