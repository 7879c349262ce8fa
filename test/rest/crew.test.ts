import test from 'ava'
import { countStatements } from '../helpers/database/statements.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)
let made = 0

async function make(path: string, body: Record<string, unknown> = {}): Promise<string> {
  const answer = await service().writer.post(path, { name: `${path} ${made++}`, ...body })
  if (answer.status !== 201) throw new Error(`${path} was not made: ${answer.text}`)
  return answer.body.id
}

async function missionWithPlaces(crewCapacity: number): Promise<string> {
  const craft = await make('/spacecraft', { kind: 'capsule', crew_capacity: crewCapacity })
  return make('/missions', { spacecraft_id: craft })
}

function join(mission: string, astronaut: string) {
  return service().writer.post(`/missions/${mission}/crew`, { astronaut_id: astronaut, role: 'pilot' })
}

async function currentMission(astronaut: string): Promise<string | undefined> {
  return (await service().reader.get(`/astronauts/${astronaut}`)).body.current_mission_id
}

test('of 20 simultaneous requests for the last place exactly one succeeds', async (t) => {
  const mission = await missionWithPlaces(3)
  await join(mission, await make('/astronauts'))
  await join(mission, await make('/astronauts'))
  const astronauts = await Promise.all(Array.from({ length: 20 }, () => make('/astronauts')))
  const answers = await Promise.all(astronauts.map((astronaut) => join(mission, astronaut)))
  t.is(answers.filter(({ status }) => status === 201).length, 1)
  for (const { status, body } of answers.filter(({ status }) => status !== 201)) {
    t.is(status, 422)
    t.is(body.error.details[0].code, 'CREW_CAPACITY_EXCEEDED')
  }
  t.is((await service().reader.get(`/missions/${mission}/crew`)).body.total_count, 3)
  const aboard = await service().reader.get(`/astronauts?filter=current_mission_id:${mission}`)
  t.is(aboard.body.total_count, 3)
})

test('an astronaut added to ten missions at once is on one', async (t) => {
  const astronaut = await make('/astronauts')
  const missions = await Promise.all(Array.from({ length: 10 }, () => make('/missions')))
  const answers = await Promise.all(missions.map((mission) => join(mission, astronaut)))
  t.is(answers.filter(({ status }) => status === 201).length, 1)
  t.is(answers.filter(({ status }) => status === 422).length, 9)
  const winner = missions[answers.findIndex(({ status }) => status === 201)]
  t.is(await currentMission(astronaut), winner)
})

test('the same astronaut cannot be in a crew twice', async (t) => {
  const [mission, astronaut] = [await make('/missions'), await make('/astronauts')]
  t.is((await join(mission, astronaut)).status, 201)
  const again = await join(mission, astronaut)
  t.is(again.status, 422)
  t.is(again.body.error.details[0].code, 'ASTRONAUT_ON_MISSION')
})

test('an astronaut links the open mission they are on, and loses it when it ends', async (t) => {
  const { reader, writer } = service()
  for (const end of ['completed', 'aborted']) {
    const [mission, astronaut] = [await make('/missions'), await make('/astronauts')]
    await join(mission, astronaut)
    const before = await reader.get(`/astronauts/${astronaut}`)
    t.true(before.body._links.current_mission.href.endsWith(`/missions/${mission}`))
    await writer.patch(`/missions/${mission}`, { status: 'active' })
    t.is((await writer.patch(`/missions/${mission}`, { status: end })).status, 204)
    const after = await reader.get(`/astronauts/${astronaut}`)
    t.is(after.body.current_mission_id, undefined)
    t.is(after.body._links.current_mission, undefined)
    t.not(after.headers.get('etag'), before.headers.get('etag'))
  }
})

test('an astronaut is free after leaving the crew, and after the deletion of the mission', async (t) => {
  const { writer } = service()
  const [mission, one, other] = [
    await make('/missions'),
    await make('/astronauts'),
    await make('/astronauts'),
  ]
  const { body } = await join(mission, one)
  await join(mission, other)
  t.is((await writer.delete(`/missions/${mission}/crew/${body.id}`)).status, 204)
  t.is(await currentMission(one), undefined)
  t.is(await currentMission(other), mission)
  t.is((await writer.delete(`/missions/${mission}`)).status, 204)
  t.is(await currentMission(other), undefined)
})

test('replacing a crew member by another astronaut frees the one and takes the other', async (t) => {
  const { writer } = service()
  const [mission, one, other] = [
    await missionWithPlaces(1),
    await make('/astronauts'),
    await make('/astronauts'),
  ]
  const { body } = await join(mission, one)
  const swapped = await writer.patch(`/missions/${mission}/crew/${body.id}`, { astronaut_id: other })
  t.is(swapped.status, 204)
  t.is(await currentMission(one), undefined)
  t.is(await currentMission(other), mission)
})

test('a mission that has ended takes no crew', async (t) => {
  const [mission, astronaut] = [await make('/missions'), await make('/astronauts')]
  await service().writer.patch(`/missions/${mission}`, { status: 'aborted' })
  const refused = await join(mission, astronaut)
  t.is(refused.status, 422)
  t.is(refused.body.error.details[0].code, 'MISSION_CLOSED')
})

test('a smaller spacecraft, or a smaller capacity, is refused while the crew is aboard', async (t) => {
  const { writer } = service()
  const craft = await make('/spacecraft', { kind: 'capsule', crew_capacity: 2 })
  const mission = await make('/missions', { spacecraft_id: craft })
  await join(mission, await make('/astronauts'))
  await join(mission, await make('/astronauts'))
  const small = await make('/spacecraft', { kind: 'capsule', crew_capacity: 1 })
  for (const [path, patch] of [
    [`/missions/${mission}`, { spacecraft_id: small }],
    [`/spacecraft/${craft}`, { crew_capacity: 1 }],
  ] as const) {
    const refused = await writer.patch(path, patch)
    t.is(refused.status, 422)
    t.is(refused.body.error.details[0].code, 'CREW_CAPACITY_EXCEEDED')
  }
})

test.serial('only a new spacecraft for a crew, and a smaller capacity, need a transaction', async (t) => {
  const { writer } = service()
  const [small, large] = [
    await make('/spacecraft', { kind: 'capsule', crew_capacity: 1 }),
    await make('/spacecraft', { kind: 'capsule' }),
  ]
  const mission = await make('/missions', { spacecraft_id: large })
  const astronaut = await make('/astronauts')
  const beginnings = async (work: () => Promise<unknown>) =>
    (await countStatements(work)).statements.filter((statement) => /^BEGIN/.test(statement)).length
  for (const [path, patch, expected] of [
    [`/missions/${mission}`, { objective: 'more' }, 0],
    [`/missions/${mission}`, { spacecraft_id: small }, 1],
    [`/missions/${mission}`, { spacecraft_id: null }, 0],
    [`/spacecraft/${small}`, { crew_capacity: 3 }, 0],
    [`/spacecraft/${small}`, { crew_capacity: 2 }, 1],
    [`/spacecraft/${large}`, { crew_capacity: 9 }, 1],
    [`/spacecraft/${large}`, { kind: 'lander' }, 0],
    [`/spacecraft/${large}`, { crew_capacity: null }, 0],
    [`/astronauts/${astronaut}`, { rank: 'major' }, 0],
  ] as const) {
    const sent = await beginnings(async () => t.is((await writer.patch(path, patch)).status, 204))
    t.is(sent, expected, `${path} ${JSON.stringify(patch)}`)
  }
  t.is(await beginnings(() => make('/missions', { spacecraft_id: small })), 0)
  t.is(await beginnings(() => make('/astronauts')), 0)
  t.is(await beginnings(() => make('/spacecraft', { kind: 'capsule', crew_capacity: 1 })), 0)
  t.is(await beginnings(() => writer.delete(`/astronauts/${astronaut}`)), 0)
})

test('an astronaut on an open mission cannot be deleted, one on an ended mission can', async (t) => {
  const { writer } = service()
  const [mission, astronaut] = [await make('/missions'), await make('/astronauts')]
  await join(mission, astronaut)
  t.is((await writer.delete(`/astronauts/${astronaut}`)).body.error.code, 'DEPENDENCY_CONFLICT')
  await writer.patch(`/missions/${mission}`, { status: 'aborted' })
  t.is((await writer.delete(`/astronauts/${astronaut}`)).status, 204)
  t.is((await writer.get(`/missions/${mission}/crew`)).body.total_count, 0)
})

test('an unknown astronaut is an unknown reference', async (t) => {
  const refused = await join(await make('/missions'), 'nobody')
  t.is(refused.status, 422)
  t.is(refused.body.error.details[0].code, 'UNKNOWN_REFERENCE')
})

test('current_mission_id cannot be written', async (t) => {
  const [mission, astronaut] = [await make('/missions'), await make('/astronauts')]
  const refused = await service().writer.patch(`/astronauts/${astronaut}`, { current_mission_id: mission })
  t.is(refused.status, 400)
  t.is(refused.body.error.details[0].code, 'READ_ONLY_FIELD')
})

test('identifiers of astronauts do not reveal the order of creation', async (t) => {
  for (const id of [await make('/astronauts'), await make('/astronauts')])
    t.regex(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4/)
})

test('a score outside 0 to 100 is a 400', async (t) => {
  const { writer } = service()
  const astronaut = await make('/astronauts')
  const record = { course: 'Docking', completed_date: '2030-05-01' }
  for (const score of [-0.1, 100.1]) {
    const { status, body } = await writer.post(`/astronauts/${astronaut}/training-records`, {
      ...record,
      score,
    })
    t.is(status, 400)
    t.is(body.error.details[0].code, 'OUT_OF_RANGE')
  }
  const { body } = await writer.post(`/astronauts/${astronaut}/training-records`, { ...record, score: 100 })
  t.is(body.astronaut_id, astronaut)
  t.is(body.completed_date, '2030-05-01T00:00:00.000Z')
})
