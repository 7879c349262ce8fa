import test from 'ava'
import type { Body } from '../helpers/domain/fixtures.ts'
import { fc, tries } from '../helpers/process/run.ts'
import type { Client, Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

// A full catalogue: CATALOGUE_SIZE=60000. A third as many planets as species.
const SPECIES = Number(process.env['CATALOGUE_SIZE'] ?? tries(600, 3000))
const PLANETS = Math.ceil(SPECIES / 3)
const PARALLEL = 8

const service = shareTestService(test, { maximumPageSize: 1000 })

const GENERA = [
  'Quercus',
  'Ångströmia',
  'Žižkovia',
  'Łódzka',
  'Ñandúa',
  'Œdipa',
  'Жизнь',
  '漢字',
  'נחש',
  'Ωmega',
  'İstanbula',
  'Straße',
  'e\u0301tude',
]
const EPITHETS = [
  'alba',
  "d'orbignyi",
  'L. (1753)',
  '[sp. nov.]',
  '“ignota”',
  '{x}',
  '<i>vera</i>',
  'a:b',
  'a,b',
  'a|b',
  '100%',
  '_under_',
  'back\\slash',
  '🦎',
  '👩‍🚀🏽',
  'tab\there',
  'a?b=c&d#e',
  '×hybrida',
  '\u200fרtl',
  'null',
  '𝔘nicode',
]

/** A name that no other number has, with whatever names have in real catalogues. */
function scientificName(number: number): string {
  const genus = GENERA[number % GENERA.length]
  const epithet = EPITHETS[number % EPITHETS.length]
  return `${genus} ${epithet} ${number.toString(36)}`
}

/** Text as it may come, kept to what PostgreSQL can store. */
const anyText = fc
  .string({ unit: 'binary', maxLength: 40 })
  .filter((text) => !text.includes('\0') && text.isWellFormed())
const figure = fc
  .double({ min: 0, noNaN: true, noDefaultInfinity: true })
  .filter((value) => !Object.is(value, -0))

const speciesParts = fc.record(
  {
    common_name: anyText,
    habitat: fc.constantFrom('ocean', 'ice: caves', 'forêt', '🌋'),
    classification: fc.record({ kingdom: anyText, class: anyText }),
    temperature_range: fc.record({
      min_celsius: fc.double({ min: -273.15, max: 0, noNaN: true }),
      max_celsius: fc.double({ min: 0.5, max: 1e4, noNaN: true }),
    }),
    bioluminescent: fc.boolean(),
    planet_origin: fc.constantFrom('Kepler-22 b', 'TRAPPIST-1 e', 'Tau Ceti e', '55 Cancri e', 'Été'),
  },
  { requiredKeys: [] },
)

const planetParts = fc.record(
  {
    host_star: anyText,
    distance_parsecs: figure,
    mass_jupiters: figure,
    radius_jupiters: fc.double({ min: 0, max: 10, noNaN: true }),
    orbital_period_days: figure,
    semi_major_axis_au: fc.integer({ min: 0, max: 1e9 }).map((value) => value / 1e6),
    equilibrium_temperature_kelvin: fc.integer({ min: 0, max: 1e7 }).map((value) => value / 1e3),
    discovery_year: fc.integer({ min: 1600, max: 2100 }),
    habitable: fc.boolean(),
  },
  { requiredKeys: [] },
)

/** Sends all bodies: every other one by POST, and the rest by PUT with an identifier of its own. */
async function fill(client: Client, collection: string, bodies: readonly Body[]): Promise<Map<string, Body>> {
  const stored = new Map<string, Body>()
  let next = 0
  const work = async () => {
    for (let index = next++; index < bodies.length; index = next++) {
      const body = bodies[index] as Body
      const id = `catalogue-${index}`
      const {
        status,
        body: answer,
        text,
      } = await (index % 2
        ? client.put(`${collection}/${id}`, { ...body, id })
        : client.post(collection, body))
      if (status !== 201) throw new Error(`${status} ${text} ${JSON.stringify(body)}`)
      stored.set(answer.id, body)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work))
  return stored
}

/** Everything in a list, by its first page and then by `next` only. */
async function walk(client: Client, first: string): Promise<Json[]> {
  const items: Json[] = []
  let href: string | undefined = first
  while (href) {
    const { body }: { body: Json } = await client.get(href)
    items.push(...(Object.values(body._embedded)[0] as Json[]))
    href = body._links.next?.href
  }
  return items
}

/** As JSON has it: it knows no negative zero. */
const asJson = (body: Body): Body => JSON.parse(JSON.stringify(body))

const isSet = (value: Json) => typeof value !== 'object' || Object.keys(value).length > 0

function withoutKept({
  id,
  created_date,
  discovered_date,
  discovery_status,
  last_updated,
  _links,
  ...body
}: Json): Body {
  return body
}

test.serial(
  `SPEC §4.1: ${SPECIES} species are stored, and the links next lead to all of them unchanged`,
  async (t) => {
    t.timeout(60_000 + SPECIES * 100)
    const { writer, reader } = service()
    const parts = fc.sample(speciesParts, { numRuns: SPECIES, seed: 22 })
    const bodies = parts.map((part, number) => ({ scientific_name: scientificName(number), ...part }))
    const stored = await fill(writer, '/species', bodies)
    for (const sort of ['', '&sort=habitat:desc']) {
      const items = await walk(reader, `/species?limit=200${sort}`)
      t.is(items.length, SPECIES)
      t.is(new Set(items.map(({ id }) => id)).size, SPECIES, 'none twice')
      for (const item of items) {
        const sent = Object.fromEntries(
          Object.entries(asJson(stored.get(item.id) as Body)).filter(([, value]) => isSet(value)),
        )
        if (JSON.stringify(withoutKept(item)) !== JSON.stringify(inOrder(sent)))
          t.deepEqual(withoutKept(item), sent)
      }
    }
  },
)

test.serial('SPEC §4.1: each of the odd names is found by a filter on it', async (t) => {
  const { reader } = service()
  for (let number = 0; number < GENERA.length * 2; number++) {
    const { body } = await reader.get(
      `/species?filter=${encodeURIComponent(`scientific_name:${scientificName(number)}`)}`,
    )
    t.deepEqual(
      body._embedded.species.map((item: Json) => item.scientific_name),
      [scientificName(number)],
    )
    t.deepEqual((await reader.get(body._links.self.href)).body, body)
  }
})

test.serial(
  `SPEC §4.1: ${PLANETS} planets with decimal figures are stored and returned unchanged`,
  async (t) => {
    t.timeout(60_000 + PLANETS * 100)
    const { writer, reader } = service()
    const before = (await reader.get('/planets?limit=1')).body.total_count
    const parts = fc.sample(planetParts, { numRuns: PLANETS, seed: 23 })
    const bodies = parts.map((part, number) => ({ name: `HD ${number} “b”`, ...part }))
    const stored = await fill(writer, '/planets', bodies)
    const items = await walk(reader, '/planets?limit=70&sort=distance_parsecs:asc,name:desc')
    t.is(items.length, PLANETS + before)
    for (const item of items.filter(({ id }) => stored.has(id))) {
      const sent = asJson(stored.get(item.id) as Body)
      if (JSON.stringify(withoutKept(item)) !== JSON.stringify(sent)) t.deepEqual(withoutKept(item), sent)
    }
  },
)

const ORDER = [
  'scientific_name',
  'common_name',
  'classification',
  'habitat',
  'planet_origin',
  'temperature_range',
  'bioluminescent',
]

function inOrder(body: Body): Body {
  return Object.fromEntries(ORDER.filter((name) => name in body).map((name) => [name, body[name]]))
}
