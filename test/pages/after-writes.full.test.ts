import test from 'ava'
import { findPrograms, type Programs } from '../helpers/database/own-server.ts'
import { createPair, startFollowing, untilVisible } from '../helpers/database/replica-pair.ts'
import { openPage } from '../helpers/service/browser.ts'
import { processToken } from '../helpers/service/service-process.ts'

const programs = await findPrograms((reason) => console.log(`pages after writes: ${reason}`))
const claim = programs ? test : test.skip

claim('the pages read what they have written, whichever process serves them', async (t) => {
  const page = await openPage(t)
  if (!page) return void t.pass()
  const pair = await createPair(t, programs as Programs)
  const [here, there] = [await startFollowing(t, pair), await startFollowing(t, pair)]
  const { body } = await here.writer.post('/planets', { name: 'Before' })
  await untilVisible(there.reader, `/planets/${body.id}`)
  await pair.control.query('SELECT pg_wal_replay_pause()')

  // Reads are served by one process, and writes by the other.
  await page.route(`${there.origin}/**`, async (route) => {
    const request = route.request()
    if (request.method() !== 'PATCH') return route.continue()
    const { pathname } = new URL(request.url())
    await route.fulfill({ response: await route.fetch({ url: here.origin + pathname }) })
  })
  await page.goto(`${there.base}/planets/${body.id}`)
  await page.getByLabel('Access token').fill(processToken('browser'))
  await page.getByRole('button', { name: 'Use token' }).click()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.locator('form.template').getByLabel('Name').fill('After')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('heading', { name: 'After', exact: true }).waitFor()
  await page.goto(`${there.base}/planets`)
  await page.getByRole('link', { name: 'After', exact: true }).waitFor()
  const tab = await page.context().newPage()
  await tab.goto(`${there.base}/planets/${body.id}`)
  await tab.getByRole('heading', { name: 'After', exact: true }).waitFor()
  await page.goto(`${there.origin}/graphql#example=planets`)
  await page.locator('.graphiql-execute-button').click()
  await page.locator('.result-window', { hasText: 'After' }).waitFor()
  t.is((await there.reader.get(`/planets/${body.id}`)).body.name, 'Before')
})
