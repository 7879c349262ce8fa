import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { createTestFolder } from '../helpers/database/database.ts'
import { runCommand as run } from '../helpers/service/commands.ts'

test('documents prints what the service has with the same settings, and only that', async (t) => {
  for (const [name, file] of [
    ['openapi', 'docs/openapi.json'],
    ['graphql', 'docs/schema.graphql'],
  ] as const) {
    const { output, errors, status } = await run('documents', {}, name)
    t.deepEqual([status, errors], [0, ''])
    t.true(output === (await readFile(file, 'utf8')), file)
  }
  const { output } = await run('documents', { API_NAMESPACE: 'space' }, 'openapi')
  t.true('/space/v1/planets' in JSON.parse(output).paths)
  const { output: complete } = await run('documents', {}, 'openapi', '--every-type')
  t.true('text/csv' in JSON.parse(complete).paths['/api/v1/planets'].get.responses[200].content)
  t.is((await run('documents', {}, 'yaml')).status, 2)
  t.is((await run('documents', {})).status, 2)
})

test('build and resource migrate refuse a persisted operation that does not fit the definitions', async (t) => {
  const folder = await createTestFolder(t)
  const environment = { GRAPHQL_OPERATIONS_DIR: folder }
  const operation = (field: string) =>
    writeFile(join(folder, 'names.graphql'), `query names { planet(id: "one") { ${field} } }`)
  await operation('nmae')
  for (const command of [['build'], ['resource', 'migrate', '--dry-run']] as const) {
    const [name, ...parameters] = command
    const { errors, status } = await run(name, environment, ...parameters)
    t.is(status, 1)
    t.regex(errors, /names\.graphql does not fit the schema: .*nmae/)
  }
  await operation('name')
  const { errors, status } = await run('build', environment)
  t.is(status, 0, errors)
})
