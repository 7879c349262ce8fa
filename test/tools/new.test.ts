import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { createTestFolder } from '../helpers/database/database.ts'
import { runCommand as run } from '../helpers/service/commands.ts'

test('a project that a clone writes contains the package that its image installs', async (t) => {
  const folder = join(await createTestFolder(t), 'my-catalogue')
  const { PATH, HOME } = process.env
  const { status, errors } = await run('new', { PATH, HOME }, folder)
  t.is(status, 0, errors)
  const { dependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const archive = /^file:([\w.-]+\.tgz)$/.exec(dependencies.halgraph)?.[1] ?? ''
  t.true((await readdir(folder)).includes(archive), dependencies.halgraph)
  const { stdout } = await promisify(execFile)('tar', ['-tzf', join(folder, archive)])
  t.regex(stdout, /^package\/bin\/halgraph\.js$/m)
  const ignored = await readFile(join(folder, '.dockerignore'), 'utf8')
  t.false(ignored.includes('tgz'))
})

test('names of folders that npm would refuse are refused', async (t) => {
  for (const name of ['My-Catalogue', '_catalogue', 'my catalogue']) {
    const { status, errors } = await run('new', {}, join(await createTestFolder(t), name))
    t.is(status, 2)
    t.is(
      errors.split('\n')[0],
      `${name} is not a valid package name. Use lower-case letters, digits and hyphens.`,
    )
  }
})
