import test from 'ava'
import { openPage } from '../helpers/service/browser.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test, { anonymousScopes: 'planets:read moons:read', graphqlExplorer: true })

test('pages show what may be read before a token is entered, and ask for one where it may not', async (t) => {
  const { writer, base, origin } = service()
  const page = await openPage(t)
  if (!page) return t.pass()
  await writer.put('/planets/open', { id: 'open', name: 'Open world' })
  await writer.put('/spacecraft/hidden', { id: 'hidden', name: 'Hidden craft', kind: 'lander' })
  await page.goto(base)
  await page.getByRole('link', { name: 'Planets', exact: true }).click()
  await page.getByRole('link', { name: 'Open world' }).click()
  await page.getByRole('heading', { name: 'Open world' }).waitFor()
  t.is(await page.getByRole('button', { name: /Delete|Save/ }).count(), 0)
  await page.getByText('The request and its response').click()
  t.regex((await page.locator('pre').allInnerTexts())[1] ?? '', /^curl 'http/)
  t.false(await page.getByLabel('Access token').isVisible())
  await page.goto(`${base}/planets?filter=name:none`)
  await page.getByText('Nothing matches the filters.').waitFor()
  await page.goto(`${base}/planets/open/moons`)
  await page.getByText('Creating needs an access token.').waitFor()
  await page.goto(`${base}/spacecraft`)
  await page.getByRole('heading', { name: 'Access token needed' }).waitFor()
  t.true(await page.getByLabel('Access token').isVisible())
  await page.goto(`${origin}/`)
  await page.locator('summary', { hasText: 'Planets' }).waitFor()
  t.is(await page.locator('summary', { hasText: 'Spacecraft' }).count(), 0)
  t.false(await page.getByLabel('Access token').isVisible())
})

test('the explorer runs operations without a token', async (t) => {
  const { writer, origin } = service()
  const page = await openPage(t)
  if (!page) return t.pass()
  await writer.put('/planets/asked', { id: 'asked', name: 'Asked world' })
  await page.goto(`${origin}/graphql#example=planets`)
  await page.getByRole('button', { name: /Execute/ }).click()
  await page.getByText('Asked world').waitFor()
  t.false(await page.getByLabel('Access token').isVisible())
})
