import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { createSetup, runCommand as run, startCommand as start } from '../helpers/commands.ts'

test('doctor reports a wrong count, and repairs it with --repair only', async (t) => {
  const setup = await createSetup(t)
  await setup.use(async ({ client }) => {
    await client.planet.createMany({ data: ['one', 'two', 'three'].map((id) => ({ id, name: id })) })
    await client.$executeRaw`UPDATE row_counts SET rows = 7 WHERE collection = 'planets'`
    await client.$executeRaw`DELETE FROM row_counts WHERE collection = 'species'`
  })
  for (let round = 0; round < 2; round++) {
    const { output, status } = await run('doctor', setup.environment)
    t.is(status, 1)
    t.regex(
      output,
      /FAIL {2}row counts\n +planets: stored count 7, actual count 3; run npm run doctor -- --repair/,
    )
    t.is(output.match(/stored count/g)?.length, 1, 'an empty collection need not have a count')
  }
  const repaired = await run('doctor', setup.environment, '--repair')
  t.is(repaired.status, 0, repaired.output)
  t.regex(repaired.output, /recounted planets\nok {4}row counts/)
  t.notRegex((await run('doctor', setup.environment)).output, /FAIL/)
})

test('a command continues when its output is closed, and keeps its exit status', async (t) => {
  const { environment } = await createSetup(t)
  const broken = await createSetup(t)
  await broken.use(({ client }) => client.$executeRawUnsafe('ALTER TABLE planets ADD COLUMN colour text'))
  for (const [variables, expected] of [
    [environment, 0],
    [broken.environment, 1],
  ] as const) {
    const child = start('doctor', variables)
    child.stdout.destroy()
    const [errors, [status]] = await Promise.all([text(child.stderr), once(child, 'close')])
    t.is(errors, '')
    t.is(status, expected)
  }
})
