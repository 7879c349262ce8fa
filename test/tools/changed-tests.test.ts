import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { createTestFolder } from '../helpers/database/database.ts'

const run = promisify(execFile)

/** A repository of a source that each of two long test files executes a line of, as a measurement says. */
async function createRepository(t: ExecutionContext) {
  const folder = await createTestFolder(t)
  const write = (files: Record<string, string>) =>
    Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)))
  const git = (...parameters: string[]) =>
    run('git', ['-c', 'user.name=tester', '-c', 'user.email=tester@example.com', ...parameters], {
      cwd: folder,
    })
  for (const name of ['src', 'test', 'measured']) await mkdir(join(folder, name))
  await write({
    'src/a.ts': '1\n2\n3\n4\n5\n',
    'package.json': '{}',
    'test/top.full.test.ts': '',
    'test/end.full.test.ts': '',
  })
  await git('init', '--quiet')
  await git('add', '.')
  await git('commit', '--quiet', '-m', 'first')
  const { stdout: commit } = await git('rev-parse', 'HEAD')
  const coverage = [
    ['test/top.full.test.ts', { lines: { 'src/a.ts': [1] }, size: 1 }],
    ['test/end.full.test.ts', { lines: { 'src/a.ts': [5] }, size: 1 }],
  ]
  const measurement = 'measured/halgraph-coverage-1.json'
  await write({ [measurement]: JSON.stringify(coverage), [`${measurement}.commit`]: commit })
  const script = pathToFileURL('scripts/changed-tests.js')
  const program = `const { fullTestsOfChanges } = await import('${script}')
    let said
    const chosen = fullTestsOfChanges((reason) => { said = reason })
    console.log(JSON.stringify({ chosen, said }))`
  const chosen = async (): Promise<{ chosen: string[]; said: string }> => {
    const env = { ...process.env, TMPDIR: join(folder, 'measured') }
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], {
      cwd: folder,
      env,
    })
    return JSON.parse(stdout)
  }
  return { write, chosen, git }
}

test('a run in CI chooses the long test files that execute a changed line, or were changed', async (t) => {
  const { write, chosen } = await createRepository(t)
  t.deepEqual((await chosen()).chosen, [])
  await write({ 'src/a.ts': '1\n2\n3\n4\nfive\n' })
  t.deepEqual((await chosen()).chosen, ['test/end.full.test.ts'])
  await write({ 'src/a.ts': '0\n1\n2\n3\n4\n5\n', 'test/end.full.test.ts': '// changed' })
  t.deepEqual((await chosen()).chosen.sort(), ['test/end.full.test.ts', 'test/top.full.test.ts'])
})

test('a run in CI takes all long test files when a file that all depend on changed, or nothing was measured', async (t) => {
  const { write, chosen, git } = await createRepository(t)
  await write({ 'package.json': '{"name":"other"}' })
  const changed = await chosen()
  t.is(changed.chosen.length, 2)
  t.regex(changed.said, /^All 2 .*package\.json changed/)
  await git('commit', '--quiet', '--amend', '-am', 'another beginning')
  const unmeasured = await chosen()
  t.is(unmeasured.chosen.length, 2)
  t.regex(unmeasured.said, /^All 2 .*no measurement/)
})
