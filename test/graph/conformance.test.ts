import anyTest, { type TestFn } from 'ava'
import { serverAudits } from 'graphql-http'
import { shareTestService } from '../helpers/service/service.ts'

const test = anyTest as TestFn
const service = shareTestService(test)

/** Audits ask anonymously; here everyone needs a token. */
const authorized = (input: string | URL | Request, init: RequestInit = {}) => {
  const headers = new Headers(init.headers)
  headers.set('Authorization', service().reader.authorization as string)
  return fetch(input, { ...init, headers })
}

const audits = serverAudits({ url: () => `${service().origin}/graphql`, fetchFn: authorized })

for (const audit of audits) {
  test(`GraphQL over HTTP, ${audit.id}: ${audit.name}`, async (t) => {
    const result = await audit.fn()
    if (result.status === 'ok') return t.pass()
    t.log(`${result.status}: ${result.reason}`)
    t.not(result.status, 'error', result.reason)
  })
}

test('the audits are those of the specification', (t) => {
  t.true(audits.length > 50)
})
