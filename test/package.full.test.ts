import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { createTestFolder } from './helpers/database/database.ts'
import { PROCESS_TOKEN, startProcess } from './helpers/service/service-process.ts'

const execute = promisify(execFile)

test('from the packed package, a new domain is written, migrated, served, and deployed elsewhere', async (t) => {
  t.timeout(600_000)
  const outer = await createTestFolder(t, tmpdir())
  const run = (folder: string, program: string, ...parameters: string[]) =>
    execute(program, parameters, {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    })
  await run('.', 'npm', 'pack', '--pack-destination', outer)
  const [tarball = ''] = await readdir(outer)
  const packed = join(outer, 'node_modules/halgraph')
  const dependencies = { halgraph: `file:./${tarball}` }
  await writeFile(join(outer, 'package.json'), JSON.stringify({ private: true, dependencies }))
  // As npm install makes it, in a twentieth of the time. The domain below is installed by npm.
  await run('.', 'cp', '-al', 'node_modules', outer)
  await mkdir(packed)
  await run(outer, 'tar', '-xzf', tarball, '--strip-components=1', '-C', packed)

  const readme = await readFile(join(packed, 'README.md'), 'utf8')
  const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) => link)
  t.true(links.length > 10)
  t.deepEqual(
    links.filter((link) => !existsSync(join(packed, link))),
    [],
  )
  const { stdout: written } = await run(
    outer,
    process.execPath,
    join(packed, 'bin/halgraph.js'),
    'new',
    'my-catalogue',
  )
  t.regex(written, /Wrote my-catalogue\/items\.ts\n[\s\S]*Next:\n {2}cd my-catalogue\n {2}npm install/)
  const folder = join(outer, 'my-catalogue')
  await run(folder, 'npm', 'install', '--prefer-offline', '--no-audit')
  await run(folder, 'npx', 'tsc')
  const { stdout: migrated } = await run(folder, 'npx', 'halgraph', 'resource', 'migrate')
  t.regex(migrated, /The resource items is new/)
  t.regex((await run(folder, 'npm', 'test')).stdout, /a new item is a draft[\s\S]*pass 1\b/)
  await run(folder, 'npx', 'halgraph', 'resource', 'new', 'shops')
  await run(folder, 'npx', 'halgraph', 'resource', 'migrate')

  const serve = async (place: string) => {
    const environment = { DOMAIN: place, DATA_DIR: join(outer, 'data') }
    const command = [process.execPath, join(place, 'node_modules/halgraph/bin/halgraph.js'), 'start']
    const service = startProcess(environment, t, command)
    return { service, items: `${await service.origin}/api/v1/items` }
  }
  const headers = { Authorization: `Bearer ${PROCESS_TOKEN}`, 'Content-Type': 'application/json' }
  const first = await serve(folder)
  const body = JSON.stringify({
    name: 'Kite',
    price: '12.5',
    available_from: '2031-06-01',
    contact: 'a@b.example',
  })
  const created = await fetch(first.items, { method: 'POST', headers, body })
  t.is(created.status, 201, await created.clone().text())
  t.like(await created.json(), { price: '12.50', status: 'draft' })
  first.service.kill('SIGTERM')
  await first.service.exited

  await run(folder, 'npm', 'prune', '--omit=dev', '--omit=optional')
  const deployed = join(outer, 'deployed')
  await rename(folder, deployed)
  const second = await serve(deployed)
  const list = (await (await fetch(second.items, { headers })).json()) as { total_count: number }
  t.is(list.total_count, 1)
  t.notRegex(second.service.output(), /Building/)
})

test('a built domain without node_modules is served by an installation in another folder', async (t) => {
  const folder = await createTestFolder(t)
  const built = join(folder, 'built')
  await cp('test/domains/library', join(folder, 'source'), { recursive: true })
  const run = (name: string, ...parameters: string[]) =>
    execute(process.execPath, ['bin/halgraph.js', name, ...parameters], {
      env: { ...process.env, DOMAIN: join(folder, 'source'), JWT_SECRET: 'x'.repeat(32) },
    })
  await run('resource', 'migrate')
  await run('build')
  await mkdir(built)
  for (const part of ['dist', 'prisma'])
    await cp(join(folder, 'source', part), join(built, part), { recursive: true })
  await rm(join(folder, 'source'), { recursive: true })
  const environment = { DOMAIN: built, DATA_DIR: join(folder, 'data') }
  const service = startProcess(environment, t, [process.execPath, 'bin/halgraph.js', 'start'])
  const headers = { Authorization: `Bearer ${PROCESS_TOKEN}` }
  t.is((await fetch(`${await service.origin}/api/v1/books`, { headers })).status, 200)
})

test('only what runs the service and what README links to is packed', async (t) => {
  const { stdout } = await execute('npm', ['pack', '--dry-run', '--json'])
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }]
  const paths = files.map(({ path }) => path)
  for (const needed of [
    'dist/halgraph.js',
    'dist/domain/definition.d.ts',
    'dist/testing.js',
    'dist/pages/explorer/graphiql.js',
    'dist/pages/explorer/graphiql.css',
    'dist/LICENSES.txt',
    'prisma/engine/migration.sql',
  ])
    t.true(paths.includes(needed), needed)
  t.regex(await readFile('dist/LICENSES.txt', 'utf8'), /^react-dom 18\S* \(MIT\)\n\nMIT License\n/m)
  t.deepEqual(
    paths.filter((path) => /^(?:bench|docs\/clients\/(?!README)|src|test|tools|torture)\/|\.map$/.test(path)),
    [],
  )
})
