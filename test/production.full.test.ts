import { execFile } from 'node:child_process'
import { access, appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { createClone } from './helpers/process/clone.ts'
import { PROCESS_TOKEN, startProcess } from './helpers/service/service-process.ts'

const execute = promisify(execFile)

test('an installation without development dependencies runs the built service in production', async (t) => {
  const folder = await createClone(t)
  // Where node_modules cannot be linked to another folder, it is copied.
  await execute('cp', ['-al', 'node_modules', folder]).catch(() =>
    execute('cp', ['-a', 'node_modules', folder]),
  )
  const npm = (...parameters: string[]) => execute('npm', [...parameters, '--offline'], { cwd: folder })
  await npm('run', 'build')
  await npm('prune', '--omit=dev', '--omit=optional')
  for (const name of ['prisma', 'effect', 'typescript', '@types/koa', 'esbuild', 'react', 'htm'])
    await t.throwsAsync(access(join(folder, 'node_modules', name)), { code: 'ENOENT' })

  const environment = { NODE_ENV: 'production', DATA_DIR: join(folder, 'data'), GRAPHQL_EXPLORER: 'true' }
  const service = startProcess(environment, t, ['npm', 'start', '--prefix', folder])
  const origin = await service.origin
  const headers = { Authorization: `Bearer ${PROCESS_TOKEN}` }
  for (const path of [
    '/api/v1/species',
    '/docs',
    '/graphql/explorer/graphiql.js',
    '/docs/assets/chart.js',
    '/docs/assets/htm.js',
    '/model',
  ])
    t.is((await fetch(`${origin}${path}`, { headers })).status, 200, path)
  t.notRegex(service.output(), /Building/)

  const command = (name: string) =>
    execute(process.execPath, ['bin/halgraph.js', name], { cwd: folder }).then(
      () => ({ code: 0, stderr: '' }),
      (error: { code: number; stderr: string }) => error,
    )
  const studio = await command('studio')
  t.is(studio.code, 1)
  t.regex(studio.stderr, /^Prisma Studio is not installed.*`npm ci --include=dev`.*\n$/)

  await appendFile(join(folder, 'src/service/observability/log.ts'), '// changed\n')
  const changed = await command('token')
  t.is(changed.code, 1)
  t.regex(changed.stderr, /^The sources have changed since the last build\. Run `npm ci && npm run build`/)
})
