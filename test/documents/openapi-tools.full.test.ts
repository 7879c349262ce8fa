import { execFile } from 'node:child_process'
import { cp, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { createTestFolder } from '../helpers/database/database.ts'
import { buildClient } from '../helpers/service/openapi-client/build.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

const run = promisify(execFile)

const project = fileURLToPath(new URL('../../', import.meta.url))

const file = join(project, 'docs/openapi.json')

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
  // Not a dependency of the project, of which it would be a tenth.
  const spectral = ['exec', '--yes', '--package=@stoplight/spectral-cli@6.16.3', '--', 'spectral']
  const options = ['--ruleset', rules, '--fail-severity', 'hint', '--format', 'json']
  const { stdout } = await run('npm', [...spectral, 'lint', file, ...options], { cwd: project })
  t.deepEqual(JSON.parse(stdout.slice(0, stdout.indexOf(']') + 1)), [])
})

test('openapi-typescript makes a client of it that type-checks and works', async (t) => {
  const helpers = new URL('../helpers/service/openapi-client/', import.meta.url)
  const folder = await createTestFolder(t)
  await symlink(join(project, 'node_modules'), join(folder, 'node_modules'))
  await cp(new URL('program.ts', helpers), join(folder, 'program.ts'))
  await buildClient(t, folder, file, 'program.ts')
  const token = service().writer.authorization?.replace('Bearer ', '') as string
  const program = ['program.js', service().origin, token]
  const { stdout } = await run(process.execPath, program, { cwd: folder })
  t.like(JSON.parse(stdout), { name: 'Typa exacta', items: 1, refused: 'INVALID_TYPE' })
})
