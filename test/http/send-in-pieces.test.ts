import test from 'ava'
import { startTestService } from '../helpers/service.ts'

test('a long response arrives unchanged, with its length, also if it is divided within a surrogate pair', async (t) => {
  const { database, reader, base, request } = await startTestService(t).then((service) => ({
    ...service,
    request: service.reader.request,
  }))
  const objectives = Array.from({ length: 40 }, (_, number) => 'x'.repeat(number) + '🚀'.repeat(4_900))
  await database.client.mission.createMany({
    data: objectives.map((objective, number) => ({
      id: `m${String(number).padStart(2, '0')}`,
      name: `mission ${number}`,
      status: 'planned',
      objective,
    })),
  })
  const path = `${base}/missions?limit=40&sort=name:asc`
  const list = await request('GET', path)
  t.is(list.headers.get('content-length'), String(Buffer.byteLength(list.text)))
  t.true(list.text.length > 300_000)
  const received = (list.body._embedded.missions as { objective: string }[]).map(({ objective }) => objective)
  t.deepEqual(received.sort(), objectives.sort())
  const head = await request('HEAD', path)
  t.deepEqual([head.status, head.text], [200, ''])
  t.is(head.headers.get('content-length'), list.headers.get('content-length'))
  const answer = await reader.graphql('{ missionPage(limit: 40) { items { objective } } }')
  const fromGraph = answer.data.missionPage.items.map(({ objective }: { objective: string }) => objective)
  t.deepEqual(fromGraph.sort(), objectives)
})
