import type { Assertions } from 'ava'
import type { Client, Json } from '../service/client.ts'

/** A moment before time zones had whole minutes, and one since. */
const MOMENTS = ['1850-03-04T05:06:07.000Z', '2031-06-01T06:07:08.900Z']

/** Sends values that a session with other settings would change, and looks at what comes back. */
export async function valuesComeBack(t: Assertions, { get, post, patch }: Client): Promise<void> {
  for (const launch_date of MOMENTS) {
    const before = Date.now() - 60_000
    const created = await post('/missions', { name: `Leaves ${launch_date}`, launch_date })
    t.is(created.status, 201)
    const address = `/missions/${created.body.id}`
    t.is((await patch(address, { objective: 'Look — 見る' })).status, 204)
    const { body } = await get(address)
    t.is(body.launch_date, launch_date)
    t.is(body.objective, 'Look — 見る')
    for (const moment of [body.created_date, body.last_updated]) {
      t.true(Date.parse(moment) > before && Date.parse(moment) < Date.now() + 60_000, moment)
    }
    const found = await get(`/missions?filter=launch_date:${encodeURIComponent(launch_date)}`)
    t.deepEqual(
      found.body._embedded.missions.map(({ id }: Json) => id),
      [created.body.id],
    )
    await measurementsComeBack(t, { get, post }, address)
  }
}

async function measurementsComeBack(
  t: Assertions,
  { get, post }: Pick<Client, 'get' | 'post'>,
  mission: string,
): Promise<void> {
  const values = [0.1 + 0.2, 1 / 3, 5e-324, 1.5e300, 2]
  for (const [hour, value] of values.entries()) {
    const recorded_at = `2031-03-30T0${hour}:30:00.000Z`
    const measurement = { instrument: 'clock', recorded_at, quantity: 'x', value }
    t.is((await post(`${mission}/data`, measurement)).status, 201)
  }
  const read: number[] = []
  let next: string | undefined = `${mission}/data?limit=2&sort=recorded_at:asc`
  while (next !== undefined && read.length <= values.length) {
    const { body }: Json = await get(next)
    read.push(...body._embedded.data.map(({ value }: Json) => value))
    next = body._links.next?.href
  }
  t.deepEqual(read, values)
}
