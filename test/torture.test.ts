import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test from 'ava'

const run = promisify(execFile)

test('the long runs load, and list themselves where none is named', async (t) => {
  const program = ['--import=./scripts/build-tests.js', 'torture/dist/main.js']
  const { code, stdout } = await t.throwsAsync<Error & { code: number; stdout: string }>(
    run(process.execPath, program),
  )
  t.is(code, 2)
  t.true(stdout.includes('npm run torture -- cluster'))
})
