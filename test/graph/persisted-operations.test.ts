import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import anyTest, { type TestFn } from 'ava'
import { SettingsError } from '../../src/service/settings/settings.ts'
import { createTestFolder, type Owner } from '../helpers/database/database.ts'
import { shareTestService, startTestService, type TestService } from '../helpers/service/service.ts'

const test = anyTest as TestFn
const service = shareTestService(test)

const NEWEST = 'query newest($limit: Int = 2) { speciesPage(limit: $limit) { limit } }\n'

async function folderWith(owner: Owner, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(await createTestFolder(owner), 'operations')
  await mkdir(folder)
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

function run({ reader, origin }: TestService, body: object) {
  return reader.post(`${origin}/graphql`, body)
}

test('an operation is run by its name, by its hash, and with variables', async (t) => {
  const graphqlOperationsDir = await folderWith(t, { 'newest.graphql': NEWEST, 'README.md': 'not one' })
  const service = await startTestService(t, { graphqlOperationsDir })
  const hash = createHash('sha256').update(NEWEST).digest('hex')
  for (const body of [{ id: 'newest' }, { documentId: 'newest' }, { documentId: `sha256:${hash}` }]) {
    t.deepEqual((await run(service, body)).body.data, { speciesPage: { limit: 2 } })
  }
  const { body } = await run(service, { id: 'newest', variables: { limit: 3 } })
  t.deepEqual(body.data, { speciesPage: { limit: 3 } })
  const { reader, origin } = service
  const got = await reader.get(`${origin}/graphql?id=newest&variables={"limit":4}`, {
    'apollo-require-preflight': '1',
  })
  t.deepEqual(got.body.data, { speciesPage: { limit: 4 } })
})

test('an operation that is not there is a 404', async (t) => {
  const { status, body } = await run(service(), { id: '../package' })
  t.is(status, 404)
  t.is(body.errors[0].extensions.code, 'RESOURCE_NOT_FOUND')
})

test('with the setting, everything else is refused', async (t) => {
  const graphqlOperationsDir = await folderWith(t, { 'newest.graphql': NEWEST })
  const service = await startTestService(t, { graphqlOperationsDir, graphqlPersistedOnly: true })
  t.is((await run(service, { id: 'newest' })).status, 200)
  for (const refused of [{ query: NEWEST }, { query: '{ __typename }' }, {}]) {
    const { status, body } = await run(service, refused)
    t.is(status, 403)
    t.is(body.errors[0].extensions.code, 'ACCESS_DENIED')
  }
  t.is((await service.reader.get('/species')).status, 200)
})

test('an operation that does not fit the schema stops the start, and the message names its file', async (t) => {
  for (const [text, message] of [
    ['{ speciesPage { nothing } }', /wrong\.graphql.*nothing/],
    ['{ speciesPage {', /wrong\.graphql.*Syntax Error/],
  ] as const) {
    const graphqlOperationsDir = await folderWith(t, { 'wrong.graphql': text })
    await t.throwsAsync(startTestService(t, { graphqlOperationsDir }), { instanceOf: SettingsError, message })
  }
  const nowhere = startTestService(t, { graphqlOperationsDir: '/nowhere' })
  await t.throwsAsync(nowhere, {
    instanceOf: SettingsError,
    message: /GRAPHQL_OPERATIONS_DIR: .*'\/nowhere'/,
  })
})

test('the operations that come with the service can be run', async (t) => {
  const text = await readFile(new URL('../../operations/dashboard.graphql', import.meta.url), 'utf8')
  const { status, body } = await run(service(), { id: 'dashboard' })
  t.is(status, 200, JSON.stringify(body))
  t.is(body.errors, undefined)
  t.deepEqual((await run(service(), { query: text })).body, body)
})
