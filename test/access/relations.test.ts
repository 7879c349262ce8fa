import test from 'ava'
import type { AccessRule } from '../../src/model/access/access-rules.ts'
import { countStatements } from '../helpers/database/statements.ts'
import { withAccess } from '../helpers/domain/with-access.ts'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

/** Missions to planets whose host star names the subject. Without a subject, all. */
const own: AccessRule = ({ subject }) =>
  subject === undefined || { destination: { host_star: { equals: subject } } }

/** All missions but those to the planets of a team, which the claim names. */
const notOfTeam: AccessRule = ({ subject, claims }) =>
  subject === undefined || { not: { destination: { host_star: { equals: claims['team'] } } } }

const service = shareTestService(
  test,
  {},
  {
    domain: withAccess({
      missions: { read: own, create: own, change: own, delete: own },
      moons: { change: () => ({ parent: { habitable: { equals: true } } }) },
    }),
  },
)
const negated = shareTestService(test, {}, { domain: withAccess({ missions: { read: notOfTeam } }) })

/** A planet of Ada, one of Bob, and a mission to each and to nowhere, with names that begin with a text. */
async function prepare(name: string, { writer } = service()) {
  for (const subject of ['ada', 'bob']) {
    const id = `${name}-${subject}`
    await writer.put(`/planets/${id}`, { id, name: `Planet ${id}`, host_star: subject })
    await writer.put(`/missions/${id}`, { id, name: `Mission ${id}`, destination_planet_id: id })
  }
  await writer.put(`/missions/${name}-none`, { id: `${name}-none`, name: `Mission ${name} none` })
}

const idsIn = (body: Json) => body._embedded.missions.map(({ id }: Json) => id)

test('a row is there for a caller if the row that it refers to matches, in each way to read it', async (t) => {
  await prepare('read')
  const ada = service().withSubject('ada')
  const { body } = await ada.get('/missions?filter=name[prefix]:Mission read&sort=id:asc')
  t.deepEqual([idsIn(body), body.total_count], [['read-ada'], 1])
  const statuses = ['ada', 'bob', 'none'].map((name) => ada.get(`/missions/read-${name}`))
  t.deepEqual(
    (await Promise.all(statuses)).map(({ status }) => status),
    [200, 404, 404],
  )
  const { data } = await ada.graphql(`{
    missionPage(filter: { name: { startsWith: "Mission read" } }) { totalCount }
    missionAggregate(filter: { name: { startsWith: "Mission read" } }) { groups { count } }
    mission(id: "read-bob") { id }
    one: planet(id: "read-ada") { missions { items { id } } }
    other: planet(id: "read-bob") { missions { items { id } } }
  }`)
  t.deepEqual(data, {
    missionPage: { totalCount: 1 },
    missionAggregate: { groups: [{ count: 1 }] },
    mission: null,
    one: { missions: { items: [{ id: 'read-ada' }] } },
    other: { missions: { items: [] } },
  })
})

test.serial('a list takes the same one statement, and one row one more', async (t) => {
  await prepare('count')
  const ada = service().withSubject('ada')
  const list = await countStatements(() => ada.get('/missions'))
  t.is(list.statements.length, 1)
  const one = await countStatements(() => ada.get('/missions/count-ada'))
  t.deepEqual([one.result.status, one.statements.length], [200, 2])
})

test('an operand without a value makes its condition false, within `not` too, also for an unset reference', async (t) => {
  await prepare('not', negated())
  const names = async (claims: object) => {
    const caller = negated().withScope('*:read', 'ada', claims as Record<string, unknown>)
    return idsIn((await caller.get('/missions?filter=name[prefix]:Mission not&sort=id:asc')).body)
  }
  t.deepEqual(await names({ team: 'ada' }), ['not-bob', 'not-none'])
  t.deepEqual(await names({}), [])
  const without = negated().withScope('*:read', 'ada', {})
  t.is((await without.get('/missions/not-none')).status, 404)
})

test('the referred row decides on writes: before and after a change, and as the transaction sees it', async (t) => {
  await prepare('write')
  const { withSubject, writer } = service()
  const ada = withSubject('ada')
  const mission = (destination: string) => ({
    name: `Mission to ${destination}`,
    destination_planet_id: destination,
  })
  const outcome = async (sending: Promise<{ status: number; body: Json }>) => {
    const { status, body } = await sending
    return [status, body?.error?.code].filter(Boolean).join(' ')
  }
  t.is(await outcome(ada.post('/missions', mission('write-ada'))), '201')
  t.is(await outcome(ada.post('/missions', mission('write-bob'))), '403 ACCESS_DENIED')
  t.is(await outcome(ada.post('/missions', mission('write-unknown'))), '403 ACCESS_DENIED')
  t.is(await outcome(ada.post('/missions', { name: 'Mission write nowhere' })), '403 ACCESS_DENIED')
  const move = (destination: string) =>
    ada.patch('/missions/write-ada', { destination_planet_id: destination })
  t.is(await outcome(move('write-bob')), '403 ACCESS_DENIED')
  t.is(await outcome(move('write-ada')), '204')
  t.is(await outcome(ada.patch('/missions/write-bob', { objective: 'None' })), '404 RESOURCE_NOT_FOUND')
  t.is(await outcome(ada.delete('/missions/write-bob')), '204')
  t.is((await writer.get('/missions/write-bob')).status, 200)
  const operations = [
    {
      method: 'PUT',
      path: '/planets/write-new',
      body: { id: 'write-new', name: 'Write new', host_star: 'ada' },
    },
    { method: 'POST', path: '/missions', body: mission('write-new') },
  ]
  const batch = await ada.post('/batch', { operations })
  t.is(batch.status, 200, batch.text)
  t.is(await outcome(ada.delete('/missions/write-ada')), '204')
})

test('a condition on the parent of an owned row is one on the relation `parent`', async (t) => {
  const { writer } = service()
  for (const [id, habitable] of [
    ['warm', true],
    ['cold', false],
  ] as const) {
    await writer.put(`/planets/${id}`, { id, name: id, habitable })
    await writer.put(`/planets/${id}/moons/only`, { id: 'only', name: 'Moon' })
  }
  const change = async (planet: string) =>
    (await writer.patch(`/planets/${planet}/moons/only`, { name: 'Changed' })).status
  t.deepEqual([await change('warm'), await change('cold')], [204, 403])
})

test.serial(
  'the feed and versions compare the recorded state, and the current one of the row that it refers to',
  async (t) => {
    const { writer, withSubject } = service()
    await prepare('feed')
    const ada = withSubject('ada')
    const { body: start } = await ada.get('/changes?since=now&collection=missions')
    const told = async (caller = ada) => {
      const { body } = await caller.get(start._links.next.href)
      return body._embedded.changes.map(({ event, id, version }: Json) => `${event} ${id} ${version}`)
    }
    const versions = async () => {
      const { status, body } = await ada.get('/missions/feed-ada/versions')
      return status === 200 ? body._embedded.versions.map(({ version }: Json) => version) : status
    }
    const move = (mission: string, destination: string) =>
      writer.patch(`/missions/${mission}`, { destination_planet_id: destination })
    await writer.patch('/missions/feed-ada', { objective: 'Dust' })
    await move('feed-bob', 'feed-ada')
    await move('feed-bob', 'feed-bob')
    t.deepEqual(await told(), ['changed feed-ada 2', 'created feed-bob 2', 'deleted feed-bob 2'])
    t.deepEqual(await versions(), [2, 1])
    await writer.patch('/planets/feed-ada', { host_star: 'bob' })
    t.deepEqual(await told(), [])
    t.is(await versions(), 404)
    t.is((await ada.get('/missions/feed-ada')).status, 404)
    t.is((await told(writer)).length, 3)
    await writer.patch('/planets/feed-ada', { host_star: 'ada' })
    await writer.delete('/missions/feed-ada')
    t.deepEqual((await told()).at(-1), 'deleted feed-ada 2')
    t.is((await ada.get('/missions/feed-ada')).status, 410)
  },
)
