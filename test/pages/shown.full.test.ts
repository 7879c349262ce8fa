import { readdirSync } from 'node:fs'
import test from 'ava'
import { openPage } from '../helpers/service/browser.ts'
import type { Client } from '../helpers/service/client.ts'
import { claimPages } from '../helpers/service/page-transcript.ts'
import { startTestService } from '../helpers/service/service.ts'

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
    const page = await openPage(t, { locale: 'en-GB', timezoneId: 'UTC', reducedMotion: 'reduce' })
    if (!page) return t.pass()
    const errors: string[] = []
    page.on('pageerror', (error) => void errors.push(String(error)))
    const service = await startTestService(t)
    await createResources(service.writer)
    await claimPages(t, page, service, `${FOLDER}/${file}`)
    t.deepEqual(errors, [])
  })
}

async function createResources(writer: Client): Promise<void> {
  for (const [path, resource] of Object.entries(RESOURCES))
    await writer.put(path, resource, { 'if-none-match': '*' })
  await writer.patch('/planets/vesta', { host_star: 'Tau' })
}
