import { promisify } from 'node:util'
import test from 'ava'
import { Client as Ketting, type State } from 'ketting'
import traverson from 'traverson'
import halAdapter from 'traverson-hal'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService, startTestService, type TestService } from '../helpers/service/service.ts'

const NAMES = Array.from({ length: 25 }, (_, number) => `Ambulans ${String.fromCharCode(97 + number)}`)

const shared = shareTestService(test)

test.serial.before(async () => {
  const { writer } = shared()
  for (const scientific_name of NAMES) {
    await writer.post('/species', { scientific_name, planet_origin: 'Walked upon' })
  }
})

/** Ketting, with the token of the writer. It asks for HAL. */
function kettingFor({ base, writer }: TestService): Ketting {
  const client = new Ketting(base)
  client.use((request, next) => {
    request.headers.set('Authorization', writer.authorization as string)
    return next(request)
  })
  return client
}

test.serial(
  'Ketting walks from the entry document through every page, and from a species to its planet',
  async (t) => {
    const service = shared()
    let page: State<Json> = await (await kettingFor(service).follow('species')).get()
    const seen: State<Json>[] = []
    for (;;) {
      for (const item of page.followAll('species') ? await page.followAll('species') : [])
        seen.push(await item.get())
      if (!page.links.has('next')) break
      page = await (await page.follow('next')).get()
    }
    t.deepEqual(
      seen.map(({ data }) => data.scientific_name),
      NAMES,
    )
    t.false(page.links.has('next'))
    t.true(page.links.has('prev'))
    const [first] = seen as [State<Json>]
    const whole = await (await first.follow('self')).refresh()
    const planet: State<Json> = await (await whole.follow('planet')).get()
    t.is(planet.data.name, 'Walked upon')
    const found: State<Json> = await (await page.follow('find', { id: first.data.id })).get()
    t.is(found.data.total_count, 1)
  },
)

test.serial('Ketting creates, changes and deletes what it has found', async (t) => {
  const service = shared()
  const client = kettingFor(service)
  const list = await client.follow('species')
  const made = await list.postFollow({ data: { scientific_name: 'Ab cliente facta', habitat: 'here' } })
  const state: State<Json> = await made.get()
  t.is(state.data.discovery_status, 'newly_catalogued')
  // Given the state itself, this Ketting sends the Keep-Alive field back, which Node's fetch refuses.
  await made.put({ data: { ...state.data, habitat: 'there' } })
  t.is(((await made.refresh()) as State<Json>).data.habitat, 'there')
  await made.patch({ data: { habitat: null } })
  t.false('habitat' in ((await made.refresh()) as State<Json>).data)
  await made.delete()
  await t.throwsAsync(made.refresh(), { message: /410/ })
})

test('Ketting creates, edits and deletes with nothing but the templates of HAL-FORMS', async (t) => {
  const service = await startTestService(t)
  const client = kettingFor(service)
  const { body: planet } = await service.writer.post('/planets', { name: 'Formed' })
  const list = await (await client.follow('missions')).get()
  const create = list.action('default')
  t.is(create.field('launch_date')?.type, 'text')
  const destination = create.field('destination_planet_id') as unknown as Json
  const choices: State<Json> = await client.go(destination.dataSource.href).get()
  const item: State<Json> = await choices.follow('planets').get()
  const made = await create.submit({
    name: 'From a template',
    launch_date: '2031-06-01T12:30:00Z',
    destination_planet_id: item.data[destination.dataSource.valueField],
  })
  t.like(made.data, { name: 'From a template', destination_planet_id: planet.id, status: 'planned' })
  const address = made.links.get('self')?.href as string
  const read: State<Json> = await client.go(address).refresh()
  const edit = read.action('default')
  t.deepEqual(edit.field('status')?.value, ['planned'])
  await edit.submit({ objective: 'Edited', status: 'planned', destination_planet_id: planet.id })
  const edited: State<Json> = await client.go(address).refresh()
  t.like(edited.data, { objective: 'Edited', launch_date: '2031-06-01T12:30:00.000Z' })
  await edited.action('delete').submit({})
  t.is((await service.writer.get(new URL(address).pathname.replace(/^.*(?=\/missions)/, ''))).status, 410)
})

test.serial('traverson with traverson-hal follows links by relation, and finds items in lists', async (t) => {
  const service = shared()
  traverson.registerMediaType(halAdapter.mediaType, halAdapter)
  const headers = { Authorization: service.writer.authorization as string, Accept: 'application/hal+json' }
  const from = () => traverson.from(service.base).jsonHal().withRequestOptions({ headers })
  const get = async (...relations: string[]): Promise<Json> => {
    const request = from().follow(...relations)
    return promisify(request.getResource.bind(request))()
  }
  t.is((await get('species', 'next')).page, 2)
  t.is((await get('species', 'next', 'prev', 'last')).page, 2)
  t.is((await get('species', 'species[3]')).scientific_name, NAMES[3])
  t.is(
    (await get('species', 'next', 'species[4]', 'self', 'planet', 'species', 'first')).total_count,
    NAMES.length,
  )
  const { id } = await get('species', 'species[7]')
  const finding = from().follow('species', 'find').withTemplateParameters({ id })
  const found = (await promisify(finding.getResource.bind(finding))()) as Json
  t.is(found._embedded.species[0].scientific_name, NAMES[7])
  const deleting = from().follow('species', 'species[0]', 'self', 'delete')
  t.is((await promisify(deleting.delete.bind(deleting))()).statusCode, 204)
  t.is((await get('species')).total_count, NAMES.length - 1)
})
