import test from 'ava'
import { findServer } from '../helpers/database/postgres-server.ts'
import { accessToken } from '../helpers/service/access-token.ts'
import { openPage } from '../helpers/service/browser.ts'
import { startMany } from '../helpers/service/namespaces.ts'
import { SECRET } from '../helpers/service/service.ts'

const server = findServer(console.log)
const claim = server ? test : test.skip

claim(
  'the first page of a service with several namespaces leads to those of the token, and their pages stay there',
  async (t) => {
    const page = await openPage(t)
    if (!page) return t.pass()
    const service = await startMany(t, server as string, { graphqlExplorer: true })
    await service.inside('south').put('/planets/kepler', { id: 'kepler', name: 'Kepler' })
    const failed: string[] = []
    page.on('response', (response) => {
      if (response.status() >= 400 && response.status() !== 401)
        failed.push(`${response.status()} ${response.url()}`)
    })
    page.on('pageerror', (error) => failed.push(error.message))
    await page.goto(`${service.origin}/`)
    await page.getByText('With an access token, this page shows the namespaces that it names.').waitFor()
    failed.length = 0
    const claims = { namespaces: ['north', 'south'] }
    const token = accessToken({ secret: SECRET, scope: '*:read *:write', subject: 'ada', claims })
    await page.locator('#session summary').click()
    await page.locator('#session [name=token]').fill(token)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'south' }).waitFor()
    t.deepEqual(await page.locator('main .cards a').allInnerTexts(), ['north', 'south'])
    t.deepEqual(await page.locator('header nav a').allTextContents(), ['Errors'])
    await page
      .locator('main .cards a')
      .first()
      .evaluate((link) => (link.textContent = 'w'.repeat(48)))
    await page.setViewportSize({ width: 390, height: 800 })
    t.is(await page.evaluate('document.documentElement.scrollWidth'), 390)

    await page.getByRole('link', { name: 'south' }).click()
    await page.getByRole('link', { name: /Planets\s*1/ }).waitFor()
    for (const [link, heading] of [
      ['Browse', /./],
      ['Reference', /./],
      ['Model', /./],
      ['Errors', 'Errors'],
    ] as const) {
      await page.locator('header').getByText('Menu').click()
      await page.locator('header nav').getByRole('link', { name: link, exact: true }).click()
      await page.getByRole('heading', { name: heading }).first().waitFor()
      t.regex(page.url(), new RegExp(`^${service.origin}/south/`))
    }
    await page.goto(`${service.origin}/south/v1/planets/kepler`)
    await page.getByRole('heading', { name: 'Kepler' }).waitFor()
    await page.goto(`${service.origin}/south/graphql`)
    await page.locator('.graphiql-container').waitFor()
    t.deepEqual(failed, [])
  },
)
