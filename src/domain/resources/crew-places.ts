import type { Change, RuleClient } from '../model/database-rule.ts'
import { type Detail, DomainError, refuseRuleViolation } from '../model/errors.ts'

/*
 * Who may be aboard. These rules read rows that other requests may be changing, so they lock them,
 * always in this order: mission, spacecraft, astronaut. What they find then holds until the write is done.
 */

/**
 * Lets an astronaut join a crew: the mission is open, a place is free, and they are on no other mission.
 *
 * @throws {DomainError} BUSINESS_RULE_VIOLATION (422) with MISSION_CLOSED, CREW_CAPACITY_EXCEEDED,
 *   ASTRONAUT_ON_MISSION
 */
export async function mayJoinCrew({ client, address, before, after }: Change): Promise<void> {
  if (!after || before?.['astronaut_id'] === after['astronaut_id']) return
  const mission = await lockMission(client, address.parentId as string)
  if (!mission) return
  const broken: Detail[] = []
  if (!['planned', 'active'].includes(mission.status)) {
    const message = `The mission is ${mission.status}; only a planned or an active one takes crew.`
    broken.push({ field: 'astronaut_id', code: 'MISSION_CLOSED', message })
  }
  const capacity = await lockCapacity(client, mission.spacecraft_id)
  const others = await crewSize(client, mission.id, address.id)
  if (others >= capacity) broken.push(noPlace('astronaut_id', capacity, others + 1))
  broken.push(...(await alreadyOnMission(client, after['astronaut_id'] as string)))
  refuseRuleViolation(broken)
}

/**
 * Lets a mission change its spacecraft: the crew it has must fit.
 *
 * @throws {DomainError} BUSINESS_RULE_VIOLATION (422) with CREW_CAPACITY_EXCEEDED
 */
export async function crewFitsSpacecraft({ client, address, before, after }: Change): Promise<void> {
  if (!before || !after || before['spacecraft_id'] === after['spacecraft_id']) return
  await lockMission(client, address.id)
  const capacity = await lockCapacity(client, after['spacecraft_id'] as string | null)
  const size = await crewSize(client, address.id, '')
  if (size > capacity) refuseRuleViolation([noPlace('spacecraft_id', capacity, size)])
}

/**
 * Lets a spacecraft change its capacity: the crews of its open missions must still fit.
 *
 * @throws {DomainError} BUSINESS_RULE_VIOLATION (422) with CREW_CAPACITY_EXCEEDED
 */
export async function capacityFitsCrews({ client, address, before, after }: Change): Promise<void> {
  const capacity = after?.['crew_capacity'] as number | null | undefined
  if (!before || typeof capacity !== 'number' || capacity === before['crew_capacity']) return
  await client.$rows({ text: 'SELECT 1 FROM spacecraft WHERE id = $1 FOR UPDATE', values: [address.id] })
  const [largest] = await client.$rows<{ size: number }>({ text: LARGEST_CREW, values: [address.id] })
  const size = largest?.size ?? 0
  if (size > capacity) refuseRuleViolation([noPlace('crew_capacity', capacity, size)])
}

const LARGEST_CREW = `
  SELECT count(*)::integer AS size FROM crew JOIN missions ON missions.id = crew.mission_id
  WHERE missions.spacecraft_id = $1 AND missions.status IN ('planned', 'active')
  GROUP BY missions.id ORDER BY size DESC LIMIT 1`

/**
 * Keeps an astronaut who is on an open mission. One who joins a crew meanwhile has another version then,
 * and the deletion finds out.
 *
 * @throws {DomainError} DEPENDENCY_CONFLICT (409)
 */
export async function isOnNoMission({ before, after }: Change): Promise<void> {
  if (after || !before || before['current_mission_id'] === null) return
  const message = 'The astronaut is in the crew of an open mission.'
  throw new DomainError('DEPENDENCY_CONFLICT', message, [{ field: 'id', code: 'RESOURCE_IN_USE', message }])
}

interface Mission {
  readonly id: string
  readonly status: string
  readonly spacecraft_id: string | null
}

async function lockMission(client: RuleClient, id: string): Promise<Mission | undefined> {
  const [mission] = await client.$rows<Mission>({
    text: 'SELECT id, status, spacecraft_id FROM missions WHERE id = $1 FOR UPDATE',
    values: [id],
  })
  return mission
}

/** Without a spacecraft, or with one whose capacity is not known, there is no limit to hold to. */
async function lockCapacity(client: RuleClient, spacecraftId: string | null): Promise<number> {
  if (spacecraftId === null) return Number.POSITIVE_INFINITY
  const [spacecraft] = await client.$rows<{ crew_capacity: number | null }>({
    text: 'SELECT crew_capacity FROM spacecraft WHERE id = $1 FOR SHARE',
    values: [spacecraftId],
  })
  return spacecraft?.crew_capacity ?? Number.POSITIVE_INFINITY
}

async function crewSize(client: RuleClient, missionId: string, exceptId: string): Promise<number> {
  const [crew] = await client.$rows<{ size: number }>({
    text: 'SELECT count(*)::integer AS size FROM crew WHERE mission_id = $1 AND id <> $2',
    values: [missionId, exceptId],
  })
  return crew?.size ?? 0
}

async function alreadyOnMission(client: RuleClient, id: string): Promise<Detail[]> {
  const [astronaut] = await client.$rows<{ current_mission_id: string | null }>({
    text: 'SELECT current_mission_id FROM astronauts WHERE id = $1 FOR UPDATE',
    values: [id],
  })
  if (!astronaut?.current_mission_id) return []
  // The mission is not named: the caller may lack the scope to read astronauts.
  const message = 'The astronaut is already in the crew of an open mission.'
  return [{ field: 'astronaut_id', code: 'ASTRONAUT_ON_MISSION', message }]
}

function noPlace(field: string, capacity: number, size: number): Detail {
  const message = `The spacecraft has places for ${capacity}, and the crew would be ${size}.`
  return { field, code: 'CREW_CAPACITY_EXCEEDED', message }
}
