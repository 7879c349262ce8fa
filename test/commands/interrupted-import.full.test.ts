import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { createFaultyLink } from '../helpers/process/faulty-link.ts'
import {
  createSetup,
  prepareMoons,
  refusedRows,
  runCommand as run,
  startCommand as start,
} from '../helpers/service/commands.ts'

test('an import during which the database goes away refuses no row for it, and can be run again', async (t) => {
  const { setup, file, begin } = await prepareMoons(t, 800)
  const url = setup.environment['DATABASE_URL']
  const link = url && (await createFaultyLink(new URL(url), t))
  if (link) setup.environment['DATABASE_URL'] = url.replace(/:\d+\//, `:${link.port}/`)
  // Without a server, the import uses the database of this process, which ends here.
  const { ended } = await setup.use(async ({ client }) => {
    const child = begin()
    const ended = Promise.all([text(child.stderr), once(child, 'close')])
    while ((await client.prisma.moon.count()) === 0);
    if (link) link.set('down')
    return { ended }
  })
  const [errors, [status]] = await ended
  t.is(status, 1)
  t.regex(errors, /The database is not responding.* \d+ rows are done: .* Run the same command to go on\./)
  t.notRegex(errors, /\n\s+at /)
  if (link) link.set('open')
  const again = await run('import', setup.environment, 'moons', file)
  t.regex(again.output, /^Imported \d+, skipped \d+, refused 0\n/)
  t.is(await setup.use(({ client }) => client.prisma.moon.count()), 800)
})

test('an import that is killed repeatedly neither loses nor duplicates rows', async (t) => {
  const setup = await createSetup(t)
  const file = join(setup.folder, 'moons.csv')
  // Names of moons are not unique, so only the import itself prevents duplicates.
  const rows = Array.from({ length: 800 }, (_, number) => `kepler,Same name,${number}`)
  await writeFile(file, `\uFEFFplanet_id,name,radius_kilometres\r\n${rows.join('\r\n')}\r\n`)
  await setup.use(async ({ client: { prisma } }) => {
    await prisma.planet.create({ data: { id: 'kepler', name: 'Kepler' } })
    for (let kills = 0; kills < 3; kills++) {
      const child = start('import', setup.environment, 'moons', file)
      const closed = once(child, 'close')
      const before = await prisma.moon.count()
      while (child.exitCode === null && (await prisma.moon.count()) < before + 200) await pause(20)
      child.kill('SIGKILL')
      await closed
    }
  })
  t.is((await run('import', setup.environment, 'moons', file)).status, 0)
  const moons = await setup.use(({ client }) => client.prisma.moon.findMany({ orderBy: { id: 'asc' } }))
  const radii = moons.map(({ radius_kilometres: radius }) => radius)
  t.deepEqual(
    radii,
    Array.from({ length: 800 }, (_, number) => number),
    'in the order of the lines',
  )
})

test('an interrupted import reports its progress, and the next one all refused rows', async (t) => {
  const setup = await createSetup(t)
  const file = join(setup.folder, 'planets.ndjson')
  const refused = [5, 750]
  const rows = Array.from({ length: 800 }, (_, number) =>
    JSON.stringify({ name: refused.includes(number) ? ' ' : `Planet ${number}` }),
  )
  await writeFile(file, rows.join('\n'))
  await setup.use(async ({ client: { prisma } }) => {
    const child = start('import', setup.environment, 'planets', file)
    const closed = once(child, 'close')
    const errors = text(child.stderr)
    while (child.exitCode === null && (await prisma.planet.count()) < 200) await pause(20)
    child.kill('SIGINT')
    const [status] = await closed
    t.is(status, 130)
    t.regex(await errors, /Interrupted after \d+ of 800 rows/)
  })
  const again = await run('import', setup.environment, 'planets', file)
  t.is(again.status, 1)
  t.is(await setup.use(({ client }) => client.prisma.planet.count()), 798)
  t.deepEqual(
    (await refusedRows(file)).map(({ line }) => line),
    [6, 751],
  )
})

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
