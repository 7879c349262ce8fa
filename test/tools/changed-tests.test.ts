import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { createTestFolder } from '../helpers/database/database.ts'

const run = promisify(execFile)

const PROGRAM = `const { fullTestsOfChanges } = await import('${pathToFileURL('scripts/changed-tests.js')}')
  console.log(fullTestsOfChanges(console.log).sort().join())`

test('CI chooses the long test files that execute a changed line, or were changed, and all when it cannot tell', async (t) => {
  const folder = await createTestFolder(t)
  const write = (name: string, text: string) => writeFile(join(folder, name), text)
  const git = async (...parameters: string[]) => {
    const author = ['-c', 'user.name=tester', '-c', 'user.email=tester@example.com']
    return (await run('git', [...author, ...parameters], { cwd: folder })).stdout
  }
  const chosen = async () => {
    const env = { ...process.env, TMPDIR: join(folder, 'measured') }
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', PROGRAM], {
      cwd: folder,
      env,
    })
    return stdout.trimEnd().split('\n').at(-1)
  }
  for (const name of ['src', 'test', 'measured']) await mkdir(join(folder, name))
  await write('src/a.ts', '1\n2\n3\n4\n5\n')
  for (const name of ['package.json', 'test/top.full.test.ts', 'test/end.full.test.ts']) await write(name, '')
  await git('init', '--quiet')
  await git('add', '.')
  await git('commit', '--quiet', '-m', 'first')
  const executed = ([name, line]: [string, number]) => [
    `test/${name}.full.test.ts`,
    { lines: { 'src/a.ts': [line] } },
  ]
  const coverage: [string, number][] = [
    ['top', 1],
    ['end', 5],
  ]
  await write('measured/halgraph-coverage-1.json', JSON.stringify(coverage.map(executed)))
  await write('measured/halgraph-coverage-1.json.commit', await git('rev-parse', 'HEAD'))
  const [end, all] = ['test/end.full.test.ts', 'test/end.full.test.ts,test/top.full.test.ts']

  await write('src/a.ts', '1\n2\n3\n4\nfive\n')
  t.is(await chosen(), end)
  await write('src/a.ts', '0\n1\n2\n3\n4\n5\n')
  await write('test/end.full.test.ts', '// changed')
  t.is(await chosen(), all)
  await git('checkout', '--quiet', '.')
  await write('package.json', '{}')
  t.is(await chosen(), all)
  await git('commit', '--quiet', '--amend', '-am', 'another beginning')
  t.is(await chosen(), all)
})
