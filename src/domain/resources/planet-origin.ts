import {
  authorize,
  type Change,
  DomainError,
  isBlank,
  isIdentifier,
  makeIdentifier,
  type RuleClient,
  readingFirst,
  requireTransaction,
  slug,
} from '../definition.ts'
import { planets } from './planets.ts'

/**
 * Sets planet_id to the planet that planet_origin names: the planet with that identifier, else the one with
 * that name regardless of case, else a new planet, unless the setting forbids that. The foreign key detects
 * that a planet is deleted before the species is written.
 *
 * @throws {DomainError} BUSINESS_RULE_VIOLATION (422) with UNKNOWN_PLANET, if new planets are not allowed;
 *   ACCESS_DENIED (403), if the caller may not create planets
 */
export const resolvePlanetOrigin = readingFirst(async (change) => {
  const { before, after } = change
  if (!after) return
  const origin = after['planet_origin'] as string | null
  if (before && before['planet_origin'] === origin && (origin === null || before['planet_id'] !== null)) {
    after['planet_id'] = before['planet_id']
  } else {
    // A blank origin is kept as it was sent, and names no planet.
    after['planet_id'] = origin === null || isBlank(origin) ? null : await planetFor(change, origin)
  }
})

export const planetOriginCodes = {
  UNKNOWN_PLANET: {
    cause: 'No planet has this identifier or name, and the service is configured not to create planets.',
    remedy: 'Create the planet first.',
  },
}

async function planetFor(change: Change, origin: string): Promise<string> {
  const { client, settings, caller } = change
  const planet = await findPlanet(client, origin)
  if (planet !== undefined) return planet
  if (settings['planetReference'] === 'strict') {
    const message = `No planet has the identifier or the name ${JSON.stringify(origin)}.`
    const details = [{ field: 'planet_origin', code: 'UNKNOWN_PLANET', message }]
    throw new DomainError('BUSINESS_RULE_VIOLATION', message, details)
  }
  authorize(caller, planets, 'write')
  requireTransaction(change)
  return createPlanet(client, isIdentifier(origin) ? origin : (slug(origin) ?? makeIdentifier({})), origin)
}

async function findPlanet(client: RuleClient, origin: string): Promise<string | undefined> {
  const text = 'SELECT planet_of_origin($1) AS id'
  const [planet] = await client.$rows<{ id: string | null }>({ text, values: [origin] })
  return planet?.id ?? undefined
}

/**
 * If two requests create the same planet, the second uses that of the first. If a planet with another name
 * has the identifier, a number is appended to it.
 */
async function createPlanet(client: RuleClient, id: string, name: string): Promise<string> {
  const text = 'INSERT INTO planets (id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id'
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? id : `${id.slice(0, 60)}-${number}`
    const rows = await client.$rows({ text, values: [candidate, name] })
    if (rows.length === 1) return candidate
    const existing = await findPlanet(client, name)
    if (existing !== undefined) return existing
  }
}
