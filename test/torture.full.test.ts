import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test from 'ava'

const run = (...parameters: string[]) =>
  promisify(execFile)(process.execPath, [
    '--import=./scripts/build-tests.js',
    'test/dist/torture/main.js',
    ...parameters,
  ])

test.serial('a long run that is cut short keeps its promises, and its exit status says so', async (t) => {
  const { stdout } = await run('shutdown', '1')
  t.regex(stdout, /^1 stops, [1-9]\d* requests answered/)
  t.regex(stdout, /^shutdown: every promise kept$/m)
})

test.serial('without the name of a long run, all are listed', async (t) => {
  const { code, stdout } = await t.throwsAsync<Error & { code: number; stdout: string }>(run())
  t.is(code, 2)
  t.true(stdout.includes('npm run torture -- cluster'))
})
