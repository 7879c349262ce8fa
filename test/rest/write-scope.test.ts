import test, { type ExecutionContext } from 'ava'
import type { Answer } from '../helpers/client.ts'
import { shareTestService } from '../helpers/service.ts'

const service = shareTestService(test)

/** A resource that the writer with all scopes has made, by its identifier. */
async function make(path: string, body: object): Promise<string> {
  const answer = await service().writer.post(path, body)
  if (answer.status !== 201) throw new Error(`${path} was not made: ${answer.text}`)
  return answer.body.id
}

function refusedWithout(t: ExecutionContext, answer: Answer, code: string, stored: RegExp): void {
  t.is(answer.body.error.details[0].code, code)
  t.notRegex(answer.text, stored)
}

test('a refused crew member does not tell which mission the astronaut is on', async (t) => {
  const [mission, other] = [
    await make('/missions', { name: 'Boarded' }),
    await make('/missions', { name: 'Wanted' }),
  ]
  const body = { astronaut_id: await make('/astronauts', { name: 'Aboard' }), role: 'pilot' }
  await make(`/missions/${mission}/crew`, body)
  const refused = await service().withScope('crew:write').post(`/missions/${other}/crew`, body)
  refusedWithout(t, refused, 'ASTRONAUT_ON_MISSION', new RegExp(mission))
})

test('a refused patch does not tell the other bound of the stored range', async (t) => {
  const species = await make('/species', {
    scientific_name: 'Secreta',
    temperature_range: { min_celsius: 4, max_celsius: 17.25 },
  })
  const patch = { temperature_range: { min_celsius: 90 } }
  const refused = await service().withScope('species:write').patch(`/species/${species}`, patch)
  refusedWithout(t, refused, 'INVALID_RANGE', /17\.25/)
})

test('a refused patch does not tell what the stored composition adds up to', async (t) => {
  const planet = await make('/planets', { name: 'Of secret air' })
  const { writer, withScope } = service()
  await writer.put(`/planets/${planet}/atmosphere`, { composition: { argon: 0.625 } })
  const patch = { composition: { neon: 0.5 } }
  const refused = await withScope('atmosphere:write').patch(`/planets/${planet}/atmosphere`, patch)
  refusedWithout(t, refused, 'INVALID_COMPOSITION', /1\.125/)
})
