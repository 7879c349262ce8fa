import { readFile } from 'node:fs/promises'
import test from 'ava'
import { ownedBy, referencesTo, relationsOf } from '../../src/model/definition/relations.ts'
import type { Resource } from '../../src/model/definition/resource.ts'
import { resources } from '../helpers/domain/domain.ts'
import { crawl, type Relations } from '../helpers/service/crawl.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

/** What GET one of each collection links to, and what it links to only where it is set, as the contract has it. */
const STATED: Readonly<Record<string, Relations>> = {
  species: { always: ['self', 'collection', 'edit', 'delete'], whereSet: ['planet'] },
  planets: {
    always: ['self', 'collection', 'edit', 'delete', 'moons', 'atmosphere', 'species', 'missions'],
  },
  moons: { always: ['self', 'collection', 'parent', 'edit', 'delete'] },
  atmosphere: { always: ['self', 'parent', 'edit', 'delete'], singleton: true },
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

/** The resources that the contract does not state. */
const ADDED = resources.filter(({ path }) => !(path in STATED))

/** The links of all resources: those that are not stated follow from their definitions. */
const RELATIONS: Readonly<Record<string, Relations>> = Object.fromEntries(
  resources.map((resource) => {
    const { always, ...stated } = STATED[resource.path] ?? definedRelations(resource)
    return [resource.path, { ...stated, always: [...always, ...linksTo(resource, ADDED)] }]
  }),
)

function definedRelations(resource: Resource): Relations {
  const { listed, owner, replaceable } = resource
  const own = [
    ...(listed ? ['collection'] : []),
    ...(owner ? ['parent'] : []),
    ...(replaceable ? ['edit'] : []),
  ]
  const stated = resources.filter((other) => !ADDED.includes(other))
  return {
    always: ['self', ...own, 'delete', ...linksTo(resource, stated)],
    whereSet: relationsOf(resource, resources).map(({ relation }) => relation),
    ...(!listed && { singleton: true }),
  }
}

/** The relations to what a resource owns, and to the collections that refer to it. */
function linksTo(resource: Resource, others: readonly Resource[]): string[] {
  const referring = referencesTo(resource, others).map(({ from }) => from)
  const linked = [...ownedBy(resource, others), ...referring.filter(({ kind }) => kind === 'collection')]
  return linked.map(({ path }) => path)
}

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

test.serial(
  'every link of every response, from the entry document on, leads somewhere and is as defined',
  async (t) => {
    await seedOverRest()
    const { base, reader } = service()
    const kinds = await crawl(t, base, reader, RELATIONS)
    const stated = [...kinds].filter((kind) => !ADDED.some(({ path }) => kind.split(' ').includes(path)))
    t.is(stated.length, 10 + 10, stated.join('\n'))
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
