import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { foundMark } from '../../test/helpers/load/kill.ts'
import { send } from '../../test/helpers/load/load.ts'
import type { Member } from './members.ts'
import type { Observations } from './observer.ts'
import { COLLECTION, listed, queried, type ReadOfMany } from './read-many.ts'

const PATIENCE_MILLISECONDS = 30_000

/** The content of a member, in the order of the identifiers. */
const CONTENT = `SELECT md5(string_agg(species::text, '' ORDER BY id COLLATE "C")) AS hash, count(*)::int AS count,
  (SELECT sum(rows)::int FROM public_internal.row_counts WHERE collection = 'species') AS counted FROM species`

/** How many species are compared at once. */
const LISTED = 100

/**
 * Compares, while nothing is written, what was acknowledged with what the service and the members have: every species
 * singly, in lists and through GraphQL, the counts, and the content of the members.
 */
export async function compare(
  origin: string,
  { histories, created }: Observations,
  members: readonly Member[],
  primary: Member,
  database: string,
): Promise<string[]> {
  const problems: string[] = []
  const [content] = await query(primary.databaseUrl(database), CONTENT)
  for (const member of members) {
    if (!(await becomes(member.databaseUrl(database), content?.['hash'])))
      problems.push(`${member.name} has other content than the primary`)
  }
  const ids = [...histories.keys()]
  for (const history of histories.values()) {
    const outcome = await send(origin, { method: 'GET', path: `${COLLECTION}/${history.id}` })
    const problem = history.decide(foundMark(outcome))
    if (problem !== undefined) problems.push(`afterwards: ${problem}`)
  }
  const rows = await query(
    primary.databaseUrl(database),
    'SELECT id, habitat, scientific_name AS name FROM species',
  )
  const stored = new Map(rows.map(({ id, habitat }) => [String(id), String(habitat)]))
  const ways = { 'the database': stored, 'a list': await readAll(origin, ids, listed) }
  for (const [way, marks] of Object.entries({ ...ways, GraphQL: await readAll(origin, ids, queried) })) {
    for (const { id, mark } of histories.values()) {
      if ((marks.get(id) ?? null) !== mark) problems.push(`${id}: ${marks.get(id)} in ${way}, not ${mark}`)
    }
  }
  const names = rows.map(({ name }) => name)
  const isThere = new Set(names)
  problems.push(...created.filter((name) => !isThere.has(name)).map((name) => `${name} is lost`))
  if (isThere.size < names.length) problems.push('something was created twice')
  if (content?.['count'] !== content?.['counted'])
    problems.push(`${content?.['counted']} rows counted instead of ${content?.['count']}`)
  const list = await send(origin, { method: 'GET', path: `${COLLECTION}?limit=1` })
  const total = list.kind === 'answered' ? JSON.parse(list.body).total_count : list.kind
  if (total !== content?.['count']) problems.push(`a list counts ${total} of ${content?.['count']}`)
  return problems
}

/** The marks of these species, as one way to read several of them shows them. */
async function readAll(origin: string, ids: readonly string[], { requestFor, marksIn }: ReadOfMany) {
  const all = new Map<string, string>()
  for (let start = 0; start < ids.length; start += LISTED) {
    const outcome = await send(origin, requestFor(ids.slice(start, start + LISTED)))
    for (const [id, mark] of marksIn(outcome) ?? []) all.set(id, mark)
  }
  return all
}

/** Whether a member has that content before long. */
async function becomes(url: string, hash: unknown): Promise<boolean> {
  const until = performance.now() + PATIENCE_MILLISECONDS
  while (performance.now() < until) {
    const [content] = await query(url, CONTENT).catch(() => [])
    if (content?.['hash'] === hash) return true
    await delay(200)
  }
  return false
}

async function query(connectionString: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 3_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}
