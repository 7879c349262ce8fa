import {
  type Detail,
  DomainError,
  permittingDeletions,
  type RuleClient,
  readingFirst,
  refuseRuleViolation,
  requireTransaction,
} from '../definition.ts'

/*
 * Rules of crew membership. They lock the rows they read, always in the order mission, spacecraft, astronaut,
 * so that the rows do not change before the write has ended.
 *
 * Most writes of missions, spacecraft and astronauts do not concern the rules. A decision from `before` and `after` alone
 * needs neither a lock nor a transaction: the write succeeds only if the resource still has the version of `before`, and a
 * new resource has no crew.
 */

export const crewCodes = {
  MISSION_CLOSED: {
    cause: 'The mission is completed or aborted and takes no more crew.',
    remedy: 'Choose a mission that is planned or active.',
  },
  CREW_CAPACITY_EXCEEDED: {
    cause: "The crew would exceed the capacity of the mission's spacecraft.",
    remedy: 'Choose a larger spacecraft or a smaller crew.',
  },
  ASTRONAUT_ON_MISSION: {
    cause: 'The astronaut is in the crew of another open mission.',
    remedy: 'Wait for the end of that mission, or choose another astronaut.',
  },
}

/**
 * Requires of a new crew member that the mission is open, the spacecraft has room, and the astronaut is on no
 * other mission.
 *
 * @throws {DomainError} BUSINESS_RULE_VIOLATION (422) with MISSION_CLOSED, CREW_CAPACITY_EXCEEDED,
 *   ASTRONAUT_ON_MISSION
 */
export const mayJoinCrew = permittingDeletions(async ({ client, key, before, after }) => {
  if (before?.['astronaut_id'] === after['astronaut_id']) return
  const mission = await lockMission(client, key.parentId as string)
  if (!mission) return
  const broken: Detail[] = []
  if (!['planned', 'active'].includes(mission.status)) {
    const message = `The mission is ${mission.status}; only a planned or an active one takes crew.`
    broken.push({ field: 'astronaut_id', code: 'MISSION_CLOSED', message })
  }
  const capacity = await lockCapacity(client, mission.spacecraft_id)
  const others = await crewSize(client, mission.id, key.id)
  broken.push(...capacityExceeded('astronaut_id', capacity, others + 1))
  broken.push(...(await alreadyOnMission(client, after['astronaut_id'] as string)))
  refuseRuleViolation(broken)
})

/**
 * Requires that the crew of a mission fits its new spacecraft.
 *
 * @throws {DomainError} BUSINESS_RULE_VIOLATION (422) with CREW_CAPACITY_EXCEEDED
 */
export const crewFitsSpacecraft = readingFirst(async (change) => {
  const { client, key, before, after } = change
  const spacecraftId = after?.['spacecraft_id'] as string | null | undefined
  if (!before || !spacecraftId || spacecraftId === before['spacecraft_id']) return
  requireTransaction(change)
  await lockMission(client, key.id)
  const capacity = await lockCapacity(client, spacecraftId)
  refuseRuleViolation(capacityExceeded('spacecraft_id', capacity, await crewSize(client, key.id, '')))
})

/**
 * Requires that the crews of the open missions of a spacecraft fit its new capacity.
 *
 * @throws {DomainError} BUSINESS_RULE_VIOLATION (422) with CREW_CAPACITY_EXCEEDED
 */
export const capacityFitsCrews = readingFirst(async (change) => {
  const { client, key, before, after } = change
  const capacity = after?.['crew_capacity'] as number | null | undefined
  const former = (before?.['crew_capacity'] as number | null | undefined) ?? Number.POSITIVE_INFINITY
  if (!before || typeof capacity !== 'number' || capacity >= former) return
  requireTransaction(change)
  await firstRow(client, 'SELECT 1 FROM spacecraft WHERE id = $1 FOR UPDATE', [key.id])
  const size = (await firstRow<{ size: number }>(client, LARGEST_CREW, [key.id]))?.size ?? 0
  refuseRuleViolation(capacityExceeded('crew_capacity', capacity, size))
})

const LARGEST_CREW = `
  SELECT count(*)::integer AS size FROM crew JOIN missions ON missions.id = crew.mission_id
  WHERE missions.spacecraft_id = $1 AND missions.status IN ('planned', 'active')
  GROUP BY missions.id ORDER BY size DESC LIMIT 1`

/**
 * Refuses to delete an astronaut who is on an open mission. An astronaut who joins a crew meanwhile gets a new
 * version, so the deletion fails.
 *
 * @throws {DomainError} DEPENDENCY_CONFLICT (409)
 */
export const isOnNoMission = readingFirst(async ({ before, after }) => {
  if (after || !before || before['current_mission_id'] === null) return
  const message = 'The astronaut is in the crew of an open mission.'
  throw new DomainError('DEPENDENCY_CONFLICT', message, [{ field: 'id', code: 'RESOURCE_IN_USE', message }])
})

function lockMission(client: RuleClient, id: string) {
  const text = 'SELECT id, status, spacecraft_id FROM missions WHERE id = $1 FOR UPDATE'
  return firstRow<{ id: string; status: string; spacecraft_id: string | null }>(client, text, [id])
}

/** No spacecraft, or no known capacity, means no limit. */
async function lockCapacity(client: RuleClient, spacecraftId: string | null): Promise<number> {
  const text = 'SELECT crew_capacity FROM spacecraft WHERE id = $1 FOR SHARE'
  const spacecraft = await firstRow<{ crew_capacity: number | null }>(client, text, [spacecraftId])
  return spacecraft?.crew_capacity ?? Number.POSITIVE_INFINITY
}

async function crewSize(client: RuleClient, missionId: string, exceptId: string): Promise<number> {
  const text = 'SELECT count(*)::integer AS size FROM crew WHERE mission_id = $1 AND id <> $2'
  return (await firstRow<{ size: number }>(client, text, [missionId, exceptId]))?.size ?? 0
}

async function alreadyOnMission(client: RuleClient, id: string): Promise<Detail[]> {
  const text = 'SELECT current_mission_id FROM astronauts WHERE id = $1 FOR UPDATE'
  const astronaut = await firstRow<{ current_mission_id: string | null }>(client, text, [id])
  if (!astronaut?.current_mission_id) return []
  // The message does not name the mission: the caller may lack the scope to read astronauts.
  const message = 'The astronaut is already in the crew of an open mission.'
  return [{ field: 'astronaut_id', code: 'ASTRONAUT_ON_MISSION', message }]
}

async function firstRow<Row>(client: RuleClient, text: string, values: unknown[]): Promise<Row | undefined> {
  return (await client.$rows<Row>({ text, values }))[0]
}

function capacityExceeded(field: string, capacity: number, size: number): Detail[] {
  if (size <= capacity) return []
  const message = `The spacecraft has a crew capacity of ${capacity}; the crew would be ${size}.`
  return [{ field, code: 'CREW_CAPACITY_EXCEEDED', message }]
}
