import { readFile } from 'node:fs/promises'
import test from 'ava'
import type { Json } from '../helpers/client.ts'
import { shareTestService } from '../helpers/service.ts'

const service = shareTestService(test)

/** What GET one of each collection links to, and what it links to only where it is set. */
const RELATIONS: Readonly<Record<string, { always: string[]; whereSet?: string[] }>> = {
  species: { always: ['self', 'collection', 'edit', 'delete'], whereSet: ['planet'] },
  planets: {
    always: ['self', 'collection', 'edit', 'delete', 'moons', 'atmosphere', 'species', 'missions'],
  },
  moons: { always: ['self', 'collection', 'parent', 'edit', 'delete'] },
  atmosphere: { always: ['self', 'parent', 'edit', 'delete'] },
  spacecraft: { always: ['self', 'collection', 'edit', 'delete', 'missions'] },
  missions: {
    always: ['self', 'collection', 'edit', 'delete', 'crew', 'data', 'astronauts'],
    whereSet: ['destination', 'spacecraft'],
  },
  crew: { always: ['self', 'collection', 'parent', 'edit', 'delete', 'astronaut'] },
  data: { always: ['self', 'collection', 'parent', 'delete'] },
  astronauts: {
    always: ['self', 'collection', 'edit', 'delete', 'training-records'],
    whereSet: ['current_mission'],
  },
  'training-records': { always: ['self', 'collection', 'parent', 'edit', 'delete'] },
}
const LIST_RELATIONS = ['self', 'first', 'last', 'next', 'prev', 'find']

async function seedOverRest(): Promise<void> {
  const catalogue = await readFile(new URL('../../prisma/seed/catalogue.json', import.meta.url), 'utf8')
  for (const { collection, parent, ...body } of JSON.parse(catalogue)) {
    const owner = { moons: 'planets', atmosphere: 'planets', 'training-records': 'astronauts' }[
      collection as string
    ]
    const at = parent ? `/${owner ?? 'missions'}/${parent}/${collection}` : `/${collection}`
    const put = await service().writer.put(body.id ? `${at}/${body.id}` : at, body)
    const { status, text } = put.status === 405 ? await service().writer.post(at, body) : put
    if (status !== 201) throw new Error(`${at}: ${text}`)
  }
}

/** The links of a document and of what is embedded in it, as addresses to follow. */
function addressesIn(document: Json): string[] {
  const links = Object.values(document._links).filter((link) => link !== null) as Json[]
  const own = links.map(({ href, templated }) => (templated ? href.replace('{?id}', '?id=nothing') : href))
  return [
    ...own,
    ...Object.values(document._embedded ?? {}).flatMap((items) => (items as Json[]).flatMap(addressesIn)),
  ]
}

test.serial(
  'every link of every response, from the entry document on, leads somewhere and is as defined',
  async (t) => {
    await seedOverRest()
    const { base, reader } = service()
    const seen = new Set<string>([base])
    const kinds = new Set<string>()
    for (const address of seen) {
      const { status, body } = await reader.get(address)
      // A planet links its atmosphere, set or not.
      if (status === 404 && address.endsWith('/atmosphere')) continue
      t.is(status, 200, address)
      for (const next of addressesIn(body)) seen.add(next)
      if (address === base) continue
      const path = new URL(address).pathname.slice(new URL(base).pathname.length + 1).split('/')
      const isList = body._embedded !== undefined
      const collection = (isList || path.at(-1) === 'atmosphere' ? path.at(-1) : path.at(-2)) as string
      kinds.add(`${isList ? 'list of' : 'one of'} ${isList && path.length > 1 ? path[0] : ''} ${collection}`)
      const relations = Object.keys(body._links)
      if (isList) {
        t.deepEqual(relations, [...LIST_RELATIONS, ...(path.length > 1 ? ['parent'] : [])], address)
        for (const item of body._embedded[collection]) t.deepEqual(Object.keys(item._links), ['self'])
      } else {
        const { always, whereSet = [] } = RELATIONS[collection] as { always: string[]; whereSet?: string[] }
        t.deepEqual(
          [...always, ...relations.filter((name) => whereSet.includes(name))].sort(),
          relations.sort(),
          address,
        )
      }
    }
    t.is(kinds.size, 10 + 10, [...kinds].join('\n'))
  },
)

test.serial(
  'the example catalogue has something to show in every collection, singleton and reference',
  async (t) => {
    const { reader } = service()
    const lists = [
      '/species',
      '/planets',
      '/planets/mars/moons',
      '/planets/earth/species',
      '/spacecraft',
      '/missions',
    ]
    lists.push(
      '/missions/deep-light/crew',
      '/missions/red-ground/data',
      '/astronauts?filter=current_mission_id:deep-light',
    )
    lists.push('/astronauts/3f0b0c8e-5d3d-4a57-9a0e-0f3b8f1c2d11/training-records')
    for (const list of lists) t.true((await reader.get(list)).body.total_count > 0, list)
    t.is((await reader.get('/planets/earth/atmosphere')).status, 200)
  },
)
