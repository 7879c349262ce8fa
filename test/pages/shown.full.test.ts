import { readdirSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { makeDomain, serveDomain } from '../helpers/domain/made-domain.ts'
import { openPage } from '../helpers/service/browser.ts'
import { claimPages } from '../helpers/service/page-transcript.ts'
import { startTestService, type TestService } from '../helpers/service/service.ts'

const FOLDER = 'test/pages/shown'

const RESOURCES = {
  '/planets/europa-prime': {
    id: 'europa-prime',
    name: 'Europa Prime',
    distance_parsecs: 1234567.125,
    discovery_method: 'transit',
    discovery_year: 2031,
    habitable: true,
  },
  '/planets/europa-prime/atmosphere': {
    surface_pressure_kilopascals: 94.2,
    breathable: false,
    composition: { nitrogen: 0.75 },
  },
  '/planets/europa-prime/moons/luna': { id: 'luna', name: 'Luna', radius_kilometres: 1737 },
  '/planets/vesta': { id: 'vesta', name: 'Vesta', host_star: 'Sol', distance_parsecs: 12, habitable: false },
  '/missions/first': {
    id: 'first',
    name: 'First',
    destination_planet_id: 'vesta',
    launch_date: '2031-06-01T12:30:15.123Z',
  },
  '/species/one': { id: 'one', scientific_name: 'Prima', planet_origin: 'Europa Prime' },
}

for (const file of readdirSync(FOLDER)) {
  test(`after the actions of ${file}, pages show what is written there`, async (t) => {
    await claimShown(t, `${FOLDER}/${file}`, () => serveResources(t))
  })
}

test('after the actions of another-time-zone.txt, pages show times of that zone, and send UTC', async (t) => {
  await claimShown(t, 'test/pages/another-time-zone.txt', () => serveResources(t), 'Asia/Kolkata')
})

test('after the actions of another-language.txt, forms and filters have read numbers as pages show them in German', async (t) => {
  await claimShown(t, 'test/pages/another-language.txt', () => serveResources(t), 'UTC', 'de-DE')
})

test('after the actions of workshop.txt, pages of a domain with fields of each kind show what is written there', async (t) => {
  await claimShown(t, 'test/pages/workshop.txt', async () => serveDomain(t, await makeDomain(t, 'workshop')))
})

async function claimShown(
  t: ExecutionContext,
  file: string,
  serve: () => Promise<TestService>,
  timezoneId = 'UTC',
  locale = 'en-GB',
) {
  const page = await openPage(t, { locale, timezoneId, reducedMotion: 'reduce' })
  if (!page) return t.pass()
  const errors: string[] = []
  page.on('pageerror', (error) => void errors.push(String(error)))
  await claimPages(t, page, await serve(), file)
  return t.deepEqual(errors, [])
}

async function serveResources(t: ExecutionContext): Promise<TestService> {
  const service = await startTestService(t)
  const { writer } = service
  for (const [path, resource] of Object.entries(RESOURCES))
    await writer.put(path, resource, { 'if-none-match': '*' })
  await writer.patch('/planets/vesta', { host_star: 'Tau' })
  return service
}
