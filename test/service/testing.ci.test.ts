import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { startTestService } from '../../src/service/testing.ts'
import { createTestFolder } from '../helpers/database/database.ts'
import { runCommand } from '../helpers/service/commands.ts'

const NEW = { 'If-None-Match': '*' }

test.serial(
  'a service for tests has clients by role, on a database of its own, and ends when it is closed',
  async (t) => {
    const service = await startTestService(t)
    const { anonymous, reader, writer } = service
    const created = await writer.put('/planets/one', { name: 'One' }, NEW)
    t.deepEqual([created.status, created.body.name], [201, 'One'])
    t.is((await anonymous.get('/planets/one')).status, 401)
    t.is((await reader.get('/planets/one')).body.name, 'One')
    t.is((await reader.delete('/planets/one')).status, 403)
    const posted = await writer.post('/planets', { name: 'Posted' })
    t.is((await reader.get(posted.headers.get('location') as string)).body.name, 'Posted')
    const etag = created.headers.get('etag') as string
    const replaced = await writer.put('/planets/one', { name: 'Other' }, { 'If-Match': etag })
    t.is(replaced.status, 204)
    t.is((await writer.patch(`${service.base}/planets/one`, { name: 'Third' })).status, 204)
    const { body } = await reader.graphql<{ planet: { name: string } }>(
      'query ($id: ID!) { planet(id: $id) { name } }',
      { id: 'one' },
    )
    t.deepEqual(body, { data: { planet: { name: 'Third' } } })
    t.like(await writer.delete('/planets/one'), { status: 204, body: undefined })
    // A client shows redirects and texts as they are.
    t.is((await anonymous.get(`${service.origin}/errors/`)).status, 308)
    t.regex((await anonymous.get(`${service.origin}/docs`)).body, /^<!doctype html>/i)
    const other = await startTestService(t)
    t.is((await other.reader.get('/planets')).body.total_count, 0)
    await service.close()
    await t.throwsAsync(reader.get('/planets'))
  },
)

test.serial('a client as a caller has its subject, scopes and claims', async (t) => {
  const { as } = await startTestService(t, { settings: { UNKNOWN_FIELDS: 'ignore' } })
  const ada = as({ subject: 'ada', scopes: ['planets:read', 'planets:write'] })
  t.is((await ada.put('/planets/one', { name: 'One', unknown: 1 }, NEW)).status, 201)
  t.is((await ada.get('/missions')).status, 403)
  const { body } = await ada.graphql('{ planet(id: "one") { changedBy } }')
  t.is(body.data.planet.changedBy, 'ada')
  // The subject of the token is that of the caller, whatever its other claims are.
  const teo = as({ subject: 'teo', claims: { sub: 'ada', team: 'blue' } })
  await teo.patch('/planets/one', { name: 'Two' })
  t.is((await teo.graphql('{ planet(id: "one") { changedBy } }')).body.data.planet.changedBy, 'teo')
})

test.serial('a setting that is not valid is refused, and leaves no database', async (t) => {
  await t.throwsAsync(startTestService(t, { settings: { MAX_PAGE_SIZE: 'many' } }), {
    message: /MAX_PAGE_SIZE: must be a whole number/,
  })
})

test.serial(
  'halgraph test compiles and runs the tests of a domain, and its exit status is theirs',
  async (t) => {
    const folder = await createTestFolder(t)
    const temporary = join(folder, 'node_modules/tmp')
    const environment = { DOMAIN: folder, TMPDIR: temporary }
    const types = join(process.cwd(), 'node_modules/@types/node')
    await mkdir(join(folder, 'node_modules/@types'), { recursive: true })
    await mkdir(temporary)
    await promisify(execFile)('ln', ['-s', types, join(folder, 'node_modules/@types/node')])
    const { projectFiles } = await import('../../tools/new/files.ts')
    const versions = { halgraph: '0', '@types/node': '0', prisma: '0', typescript: '0' }
    const files = projectFiles('trial', versions)
    for (const name of ['index.ts', 'items.ts', 'items.test.ts'])
      await writeFile(join(folder, name), files.get(name) as string)
    const migrated = await runCommand('resource', environment, 'migrate')
    t.is(migrated.status, 0, migrated.errors)
    // Tests of other packages are theirs.
    for (const place of ['web/node_modules/gadget', 'web']) {
      await mkdir(join(folder, place, 'src'), { recursive: true })
      await writeFile(join(folder, place, 'package.json'), '{}')
      await writeFile(join(folder, place, 'src/one.test.ts'), "import 'vitest'")
    }
    const passed = await runCommand('test', environment)
    t.is(passed.status, 0, passed.output + passed.errors)
    t.regex(passed.output, /a new item is a draft[\s\S]*pass 1\b/)
    const first = await readFile(join(folder, 'items.test.ts'), 'utf8')
    await writeFile(join(folder, 'failing.test.ts'), first.replace("'draft'])", "'sold_out'])"))
    const failed = await runCommand('test', environment, join(folder, 'failing.test.ts'))
    t.is(failed.status, 1)
    t.regex(failed.output, /pass 0\b[\s\S]*fail 1\b/)
    t.is((await runCommand('test', environment, 'none.test.ts')).status, 2)
    const templates = () =>
      readdir(temporary).then((names) => names.filter((name) => /^halgraph-/.test(name)))
    const [template, ...others] = await templates()
    t.regex(template ?? '', /^halgraph-template-/)
    t.deepEqual(others, [], 'the databases of the tests are gone')
    await writeFile(join(folder, 'failing.test.ts'), first.replace('body.status', 'body.stauts'))
    const refused = await runCommand('test', environment)
    t.is(refused.status, 1)
    t.regex(refused.errors, /failing\.test\.ts.*stauts/)
  },
)
