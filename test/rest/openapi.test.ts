import { execFile } from 'node:child_process'
import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { parse } from 'yaml'
import { committedDocument } from '../../src/documents/openapi/document.ts'
import { resourceExamples } from '../../src/documents/openapi/examples.ts'
import { inspectResource } from '../../src/model/validate.ts'
import { readSeeds } from '../../src/service/seeds.ts'
import { domainFolder } from '../../src/service/settings/domain-folder.ts'
import type { Answer, Json } from '../helpers/client.ts'
import { type CheckConformance, ConformanceError, createConformanceCheck } from '../helpers/conformance.ts'
import { createTestFolder } from '../helpers/database.ts'
import { domain, resources } from '../helpers/domain.ts'
import { buildClient } from '../helpers/openapi-client/build.ts'
import { shareTestService } from '../helpers/service.ts'

const service = shareTestService(test)
const run = promisify(execFile)
const project = fileURLToPath(new URL('../../', import.meta.url))
const file = join(project, 'docs/openapi.json')

test('docs/openapi.json is what the definitions make; `npm run docs` writes it', async (t) => {
  const seeds = await readSeeds(domainFolder().seed)
  t.true((await readFile(file, 'utf8')) === committedDocument(domain, seeds))
})

test('the document is served without a token, as JSON and as YAML', async (t) => {
  const json = await service().anonymous.get('/openapi.json')
  const yaml = await service().anonymous.get('/openapi.yaml')
  t.is(json.status, 200)
  t.is(json.body.openapi, '3.1.1')
  t.is(yaml.headers.get('content-type'), 'application/yaml; charset=utf-8')
  t.deepEqual(parse(yaml.text, { maxAliasCount: 0 }), json.body)
})

test("Redocly's recommended rules find nothing, not even a warning", async (t) => {
  const environment = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const command = [
    'node_modules/@redocly/cli/bin/cli.js',
    'lint',
    '--extends=recommended',
    '--format=json',
    file,
  ]
  const { stdout } = await run(process.execPath, command, { cwd: project, env: environment })
  t.deepEqual(JSON.parse(stdout.slice(stdout.indexOf('{'))).problems, [])
})

test("Spectral's rules for OpenAPI find nothing, not even a hint", async (t) => {
  const rules = join(await createTestFolder(t), 'rules.yaml')
  await writeFile(rules, 'extends: [[spectral:oas, recommended]]\n')
  const entry = fileURLToPath(import.meta.resolve('@stoplight/spectral-cli/dist/index.js'))
  const command = [entry, 'lint', file, '--ruleset', rules, '--fail-severity', 'hint', '--format', 'json']
  const { stdout } = await run(process.execPath, command, { cwd: project })
  t.deepEqual(JSON.parse(stdout.slice(0, stdout.indexOf(']') + 1)), [])
})

test('openapi-typescript makes a client of it that type-checks and works', async (t) => {
  const helpers = new URL('../helpers/openapi-client/', import.meta.url)
  const folder = await createTestFolder(t)
  await symlink(join(project, 'node_modules'), join(folder, 'node_modules'))
  await cp(new URL('program.ts', helpers), join(folder, 'program.ts'))
  await buildClient(t, folder, file, 'program.ts')
  const token = service().writer.authorization?.replace('Bearer ', '') as string
  const program = ['program.js', service().origin, token]
  const { stdout } = await run(process.execPath, program, { cwd: folder })
  t.like(JSON.parse(stdout), { name: 'Typa exacta', items: 1, refused: 'INVALID_TYPE' })
})

for (const resource of resources) {
  test(`${resource.path}: without a catalogue, the example is one that the service would take`, (t) => {
    const source = { resources, seeds: [], base: 'http://127.0.0.1/api/v1' }
    const { input, patch } = resourceExamples(resource, source)
    const { details } = inspectResource(resource, input)
    t.deepEqual(details, [])
    t.true(Object.keys(patch).length > 0 || resource.appendOnly === true)
  })
}

let shared: CheckConformance | undefined

const conforming = test.macro(async (t, doctor: (answer: Answer) => Answer) => {
  const { writer, settings, base } = service()
  shared ??= createConformanceCheck(settings)
  const check = shared
  const { body } = await writer.post('/planets', { name: `Doctored ${t.title}` })
  const url = `${base}/planets/${body.id}`
  const answer = await writer.get(url)
  t.notThrows(() => check('GET', url, answer))
  t.throws(() => check('GET', url, doctor(answer)), { instanceOf: ConformanceError })
})

const withBody = (change: (body: Json) => void) => (answer: Answer) => {
  const body = structuredClone(answer.body)
  change(body)
  return { ...answer, body }
}

test(
  'an answer with a field too many does not conform',
  conforming,
  withBody((body) => {
    body.colour = 'blue'
  }),
)
test(
  'an answer without a required field does not conform',
  conforming,
  withBody((body) => {
    delete body.name
  }),
)
test(
  'an answer with null does not conform',
  conforming,
  withBody((body) => {
    body.host_star = null
  }),
)
test(
  'an answer with a link too many does not conform',
  conforming,
  withBody((body) => {
    body._links.more = body._links.self
  }),
)
test(
  'an answer with a link too few does not conform',
  conforming,
  withBody((body) => {
    delete body._links.delete
  }),
)
test('an answer with an unknown status does not conform', conforming, (answer) => ({
  ...answer,
  status: 418,
}))
test('an answer without its headers does not conform', conforming, (answer) => ({
  ...answer,
  headers: new Headers({ 'content-type': 'application/json' }),
}))
test('an answer of another media type does not conform', conforming, (answer) => ({
  ...answer,
  headers: new Headers({ ...Object.fromEntries(answer.headers), 'content-type': 'text/plain' }),
}))
