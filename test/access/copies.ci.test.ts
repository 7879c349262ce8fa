import test, { type ExecutionContext } from 'ava'
import type { AccessRule } from '../../src/model/access/access-rules.ts'
import { withAccess } from '../helpers/domain/with-access.ts'
import { tries } from '../helpers/process/run.ts'
import type { Client, Json } from '../helpers/service/client.ts'
import { readEvents } from '../helpers/service/read-events.ts'
import { startTestService } from '../helpers/service/service.ts'

const WRITES = tries(300, 3_000)
const WRITERS = 4

/** The writer, whose token has no subject, may read all. */
const unlessWriter =
  (rule: AccessRule): AccessRule =>
  (caller, settings) =>
    caller.subject === undefined || rule(caller, settings)

const domain = withAccess({
  planets: {
    read: unlessWriter(({ subject }) => ({
      or: [{ host_star: { equals: subject } }, { habitable: { equals: true } }],
    })),
  },
  moons: { read: unlessWriter(() => ({ tidally_locked: { notEquals: true } })) },
  spacecraft: {
    read: unlessWriter(({ subject }) => ({ kind: { equals: subject === 'ada' ? 'lander' : 'rover' } })),
  },
})

/** Numbers below a limit, the same for each seed (mulberry32). */
function randomNumbers(seed: number) {
  let state = seed
  return (limit: number) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
}

type Random = ReturnType<typeof randomNumbers>

async function write(writer: Client, random: Random): Promise<void> {
  const some = <Value>(...values: Value[]) => values[random(values.length)] as Value
  const planet = `/planets/p${random(4)}`
  const path = some(
    planet,
    planet,
    `${planet}/moons/m${random(3)}`,
    `${planet}/moons/m${random(3)}`,
    `${planet}/atmosphere`,
    `/spacecraft/c${random(3)}`,
  )
  const id = path.split('/').at(-1) as string
  const bodies: Readonly<Record<string, object>> = {
    p: { host_star: some('ada', 'bob', 'carol'), habitable: random(4) === 0, discovery_year: random(3) },
    m: { tidally_locked: some(true, false), radius_kilometres: random(3) },
    a: { surface_pressure_kilopascals: random(3) },
    c: { kind: some('lander', 'rover', 'station') },
  }
  const body = { ...(id !== 'atmosphere' && { id, name: `Name ${id}` }), ...bodies[id[0] as string] }
  const { status, text } = random(6) === 0 ? await writer.delete(path) : await writer.put(path, body)
  if (![201, 204, 404, 409, 410].includes(status)) throw new Error(`${path}: ${text}`)
}

/** What a follower knows. Each event must change it: what is created was not there, and the others were. */
class Copy {
  readonly resources = new Map<string, Json>()

  constructor(
    private readonly t: ExecutionContext,
    private readonly name: string,
  ) {}

  apply({ event, _links: links, resource, version }: Json, base: string): void {
    const address = links.resource.href.replace(base, '')
    this.t.is(
      this.resources.has(address),
      event !== 'created',
      `${this.name}: ${event} ${address} ${version}`,
    )
    if (event === 'deleted') this.resources.delete(address)
    else this.resources.set(address, resource)
  }
}

/** The resources that a caller reads from the lists, as changes show them. */
async function fromLists(client: Client, collections: readonly string[]): Promise<Map<string, Json>> {
  const found = new Map<string, Json>()
  const add = (path: string, { _links, ...resource }: Json) => found.set(path, resource)
  const all = async (path: string) => {
    const { status, body } = await client.get(`${path}?limit=100`)
    if (status !== 200) throw new Error(path)
    return body._embedded[path.split('/').at(-1) as string] as Json[]
  }
  for (const planet of await all('/planets')) {
    if (collections.includes('planets')) add(`/planets/${planet.id}`, planet)
    if (collections.includes('moons')) {
      for (const moon of await all(`/planets/${planet.id}/moons`))
        add(`/planets/${planet.id}/moons/${moon.id}`, moon)
    }
    const { status, body } = await client.get(`/planets/${planet.id}/atmosphere`)
    if (status === 200 && collections.includes('atmosphere')) add(`/planets/${planet.id}/atmosphere`, body)
  }
  if (collections.includes('spacecraft')) {
    for (const craft of await all('/spacecraft')) add(`/spacecraft/${craft.id}`, craft)
  }
  return found
}

test('a copy that follows the feed equals the lists of its caller, and each change changes it', async (t) => {
  const seed = Number(process.env['SEED'] ?? 60_951)
  t.log(`SEED=${seed}`)
  const { writer, withSubject, base } = await startTestService(t, {}, { domain })
  const random = randomNumbers(seed)
  const everything = ['planets', 'moons', 'atmosphere', 'spacecraft']
  const callers = [
    { name: 'writer', client: writer, collections: everything },
    ...['ada', 'bob'].flatMap((name) => [
      { name, client: withSubject(name), collections: everything },
      { name: `${name}, moons`, client: withSubject(name), collections: ['moons'] },
      { name: `${name}, atmosphere`, client: withSubject(name), collections: ['atmosphere', 'planets'] },
    ]),
  ]
  const followers = callers.map((caller) => {
    const url = `/changes?collection=${caller.collections.join()}&limit=`
    return { ...caller, copy: new Copy(t, caller.name), next: `${url}${1 + random(5)}` }
  })
  const follow = async (follower: (typeof followers)[number]) => {
    for (;;) {
      const { status, body, text } = await follower.client.get(follower.next)
      if (status !== 200) throw new Error(text)
      for (const change of body._embedded.changes) follower.copy.apply(change, base)
      t.true(body._embedded.changes.length <= body.limit)
      follower.next = body._links.next.href
      if (!body.has_more) return
    }
  }
  for (let done = 0; done < WRITES; done += WRITERS) {
    await Promise.all(Array.from({ length: WRITERS }, () => write(writer, random)))
    // Some follow closely, others lag.
    for (const follower of followers) if (random(12) === 0) await follow(follower)
  }
  for (const follower of followers) {
    await follow(follower)
    const expected = await fromLists(follower.client, follower.collections)
    const sorted = (map: Map<string, Json>) => [...map].sort(([one], [other]) => (one < other ? -1 : 1))
    t.deepEqual(sorted(follower.copy.resources), sorted(expected), follower.name)
  }
  const { client, next, copy } = followers[1] as (typeof followers)[number]
  const replayed = new Copy(t, 'a stream')
  const whole = next.replace(/since=[^&]+&?/, '')
  const { authorization = '' } = client
  const changed = copy.resources.size
  const { events } = await readEvents(whole, changed, { authorization })
  for (const { data } of events) replayed.apply(data, base)
})
