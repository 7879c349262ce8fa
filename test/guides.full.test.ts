import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { mapped } from '../src/model/values.ts'
import type { Settings } from '../src/service/settings/settings.ts'
import { createTestFolder } from './helpers/database/database.ts'
import { createOwnServer, findPrograms } from './helpers/database/own-server.ts'
import { isAsShown, readBlocks, readGuide, runSteps } from './helpers/process/guide.ts'
import { isInstalled } from './helpers/process/programs.ts'
import type { Client } from './helpers/service/client.ts'
import { environmentFor, runCommand } from './helpers/service/commands.ts'
import { startTestService, type TestService } from './helpers/service/service.ts'
import { listen } from './helpers/service/tokens.ts'

/** Starts a service with the example catalogue, and runs the guide from top to bottom. */
async function printsWhatItShows(
  t: ExecutionContext,
  name: string,
  settings: Partial<Settings> = {},
  tokens: Readonly<Record<string, Parameters<TestService['withScope']>>> = {},
) {
  if (!(await isInstalled(t, 'bash', 'curl', 'jq'))) return
  const { origin, base, writer, withScope, settings: used } = await startTestService(t, settings)
  const seed = await runCommand('seed', environmentFor(used))
  t.is(seed.status, 0, seed.errors)
  const steps = await readGuide(name)
  const tokenOf = ({ authorization }: Client) => authorization?.replace('Bearer ', '') ?? ''
  const more = mapped(tokens, (caller) => tokenOf(withScope(...caller)))
  const place = { origin, base, token: tokenOf(writer) }
  const outputs = await runSteps(steps, await createTestFolder(t), place, more)
  const tried = steps.filter(({ shown }) => shown !== undefined)
  t.true(tried.length > 3, `${name} shows nothing`)
  for (const [index, { code, shown }] of steps.entries()) {
    if (shown === undefined || isAsShown(outputs[index] ?? '', shown)) continue
    t.is(outputs[index]?.trim(), shown.trim(), code)
  }
}

test('the guide to paging prints what it shows', (t) => printsWhatItShows(t, 'paging'))
test('the guide to access prints what it shows', (t) =>
  printsWhatItShows(
    t,
    'access',
    { ruleSettings: { planetReference: 'stub', trainingAccess: 'own' } },
    {
      AMARA: ['training-records:read astronauts:read', '3f0b0c8e-5d3d-4a57-9a0e-0f3b8f1c2d11'],
      INSTRUCTOR: ['*:read', 'lindqvist', { role: 'instructor' }],
    },
  ))
test('the guide to batches prints what it shows', (t) => printsWhatItShows(t, 'batches'))
test('the guide to retries prints what it shows', (t) =>
  printsWhatItShows(t, 'retries-and-idempotency', { rateLimit: 40 }))

/** The address of a gateway that passes requests on, and loses the first two responses. */
async function losingGateway(t: ExecutionContext, origin: string) {
  const passed: (string | undefined)[] = []
  const address = await listen(t, async (request, response) => {
    const { method = '', headers, url } = request
    const { authorization = '', 'content-type': type = '', 'idempotency-key': key } = headers
    const sent = { authorization, 'content-type': type, ...(key && { 'idempotency-key': String(key) }) }
    const answer = await fetch(`${origin}${url}`, { method, headers: sent, body: await text(request) })
    passed.push(key as string | undefined)
    if (passed.length === 1) request.socket.destroy()
    else if (passed.length === 2) response.writeHead(503, { 'Retry-After': '0' }).end()
    else response.writeHead(answer.status).end(await answer.text())
  })
  return { address, passed }
}

test('the function of the guide to retries creates once although responses are lost', async (t) => {
  const { origin, writer } = await startTestService(t)
  const { address, passed } = await losingGateway(t, origin)
  const program = join(await createTestFolder(t), 'send.mjs')
  const [step] = (await readGuide('retries-and-idempotency')).filter(({ language }) => language === 'js')
  await writeFile(program, step?.code ?? '')
  process.env['TOKEN'] = writer.authorization?.replace('Bearer ', '')
  const { send } = await import(pathToFileURL(program).href)
  const create = (headers: object) =>
    send(`${address}/api/v1/species`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ scientific_name: 'Exemplum amissum' }),
    })
  const response = await create({ 'Idempotency-Key': 'one' })
  t.is(response.status, 201)
  t.deepEqual(passed, ['one', 'one', 'one'])
  t.is((await writer.get('/species')).body.total_count, 1)
  passed.length = 0
  await t.throwsAsync(create({}), { message: 'fetch failed' })
  t.is(passed.length, 1, 'without a key it is not repeated')
})

test('the guide to conditional requests prints what it shows', (t) =>
  printsWhatItShows(t, 'conditional-requests'))

test('the guide to dashboards prints what it shows', (t) => printsWhatItShows(t, 'dashboards'))

test('the roles of the guides can migrate, serve and read, and no more, and doctor finds nothing, also once restored', async (t) => {
  const programs = await findPrograms((reason) => t.log(reason))
  if (!programs) return t.pass()
  const server = await createOwnServer(t, programs)
  const [roles = '', grants = ''] = await readBlocks('deployment', 'sql')
  const addressOf = (role: string, database: string) => {
    const address = new URL(server.address)
    address.username = role
    address.pathname = database
    return address.href
  }
  for (const statement of roles.split(/(?<=;)\n/)) await query(addressOf('postgres', 'postgres'), statement)
  await query(addressOf('postgres', 'halgraph'), grants)
  const owner = addressOf('halgraph_owner', 'halgraph')
  const databaseUrl = addressOf('halgraph', 'halgraph')
  const refused = await runCommand('migrate', { DATABASE_URL: databaseUrl })
  t.regex(refused.errors, /the role halgraph may not create it. Migrate as the role that owns the tables/)
  const { status, errors } = await runCommand('migrate', { DATABASE_URL: owner })
  t.is(status, 0, errors)
  const { writer, anonymous, origin } = await startTestService(t, { databaseUrl, migrateOnStart: false })
  t.is((await anonymous.get(`${origin}/health/ready`)).status, 200)
  t.is((await writer.put('/planets/mars', { id: 'mars', name: 'Mars' })).status, 201)
  t.is((await writer.put('/planets/mars/moons/phobos', { id: 'phobos', name: 'Phobos' })).status, 201)
  t.is((await writer.patch('/planets/mars', { habitable: false })).status, 204)
  t.is((await writer.delete('/planets/mars')).status, 204)
  t.is((await writer.get('/planets/mars/moons/phobos')).status, 410)
  for (const statement of ['CREATE TABLE extra ()', 'ALTER TABLE species DISABLE TRIGGER ALL'])
    await t.throwsAsync(query(databaseUrl, statement), { message: /permission denied|must be owner/ })
  const lines = async (url: string) =>
    (await runCommand('doctor', { DATABASE_URL: url })).output.match(/^(?:FAIL|warn).*/gm)
  t.is(await lines(owner), null)
  t.regex(
    String(await lines(databaseUrl)),
    /^warn {2}triggers, .* the owner of the tables.$/,
    'its role creates no schemas',
  )

  const [reports = ''] = await readBlocks('database', 'sql')
  await query(addressOf('postgres', 'halgraph'), reports)
  await query(addressOf('reports', 'halgraph'), 'SELECT FROM species')
  for (const table of ['recorded_changes', 'tombstones', 'idempotency_keys'])
    await t.throwsAsync(query(addressOf('reports', 'halgraph'), `SELECT FROM public_internal.${table}`), {
      message: /permission denied/,
    })

  await query(
    addressOf('postgres', 'postgres'),
    "CREATE DATABASE restored OWNER halgraph_owner ENCODING 'UTF8' TEMPLATE template0",
  )
  const restored = addressOf('postgres', 'restored')
  execFileSync('sh', ['-c', `pg_dump -Fc '${owner}' | pg_restore --dbname '${restored}'`], {
    env: { PATH: `${programs.folder}:${process.env['PATH']}` },
  })
  t.is(await lines(addressOf('halgraph_owner', 'restored')), null)
})

async function query(connectionString: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}
