import { execFile } from 'node:child_process'
import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { openApiText } from '../../src/service/features.ts'
import { readSettings } from '../../src/service/settings/settings.ts'
import { createTestFolder } from '../helpers/database/database.ts'
import { domain } from '../helpers/domain/domain.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)
const run = promisify(execFile)
const project = fileURLToPath(new URL('../../', import.meta.url))

/** What some of them leave to their users. */
const BESIDE = [
  ...[
    'axios@1',
    '@zodios/core@10',
    'zod@3',
    'express@5',
    '@oazapfts/runtime@1',
    '@reduxjs/toolkit@2',
    'vega@6',
  ],
  ...['@kubb/cli@4.39.3', '@kubb/plugin-oas@4.39.3', '@kubb/plugin-ts@4.39.3', '@kubb/core@4.39.3'],
  ...['@refinedev/rest@2.1.1', 'react@19', 'react-dom@19'],
]

/** Programs of this project that they need. */
const OURS = [join('node_modules', '.bin', 'esbuild'), join('node_modules', 'playwright-core')]

test('each generator and client in the tables of docs/clients works in its version, with its options', async (t) => {
  t.timeout(1_200_000)
  const tables = await readFile(join(project, 'docs/clients/README.md'), 'utf8')
  const rows = [...tables.matchAll(/^\| `([^`]+)` (\d\S*) \|/gm)].map(([, name, version]) => [name, version])
  t.is(rows.length, 28)
  const folder = await createTestFolder(t, tmpdir())
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  const packages = rows.map(([name, version]) => `${name}@${version}`)
  // Without what their installation would run. TypeScript 7 lacks the interface that most generators need.
  const options = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', 'typescript@5']
  await run('npm', ['install', ...options, ...BESIDE, ...packages], { cwd: folder })
  for (const path of OURS) await symlink(join(project, path), join(folder, path)).catch(() => {})
  await cp(join(project, 'test/helpers/service/clients'), folder, { recursive: true })
  await cp(join(project, 'docs/clients/pages'), join(folder, 'pages'), { recursive: true })
  await cp(join(project, 'docs/schema.graphql'), join(folder, 'schema.graphql'))
  await writeFile(join(folder, 'openapi.json'), (await service().anonymous.get('/openapi.json')).text)
  await writeFile(join(folder, 'complete.json'), openApiText(domain, [], readSettings({}), true))
  const { writer, origin } = service()
  for (const letter of ['a', 'b']) {
    const planet = { name: `Client, ${letter}`, host_star: 'Client', discovery_year: 2001 }
    t.is((await writer.put(`/planets/client-${letter}`, { id: `client-${letter}`, ...planet })).status, 201)
  }
  const TOKEN = writer.authorization?.replace('Bearer ', '')
  const env = { ...process.env, ORIGIN: origin, TOKEN }
  const failures: Record<string, string> = {}
  for (const [name = ''] of rows) {
    const options = { cwd: folder, env, timeout: 120_000 }
    await run(process.execPath, ['run.mjs', name], options).catch(({ stderr }) => {
      failures[name] = stderr.slice(0, 1000)
    })
  }
  t.deepEqual(failures, {})
})
