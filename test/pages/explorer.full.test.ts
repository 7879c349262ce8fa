import anyTest, { type TestFn } from 'ava'
import type { Page } from 'playwright-core'
import { openPage } from '../helpers/service/browser.ts'
import { shareTestService } from '../helpers/service/service.ts'

const test = anyTest as TestFn

const service = shareTestService(test)

for (const [device, width, height] of [
  ['a desktop', 1280, 800],
  ['a phone', 390, 844],
] as const) {
  test.serial(
    `on ${device}, a token and an example can be entered and run, without third parties`,
    async (t) => {
      const page = await openPage(t, { viewport: { width, height } })
      if (!page) return t.pass()
      const { writer, origin } = service()
      const name = `Explorata ${width}`
      await writer.post('/species', { scientific_name: name })
      const outside = watchOutside(page, origin)
      const problems = watchProblems(page)

      await page.goto(`${origin}/graphql`)
      await page.getByText('This page needs an access token.').waitFor()
      await page.getByLabel('Access token').fill(writer.authorization as string)
      await page.getByRole('button', { name: 'Use token' }).click()
      await page.locator('summary', { hasText: /^Token/ }).waitFor()
      await page.selectOption('#examples', { label: 'The newest species' })
      await page.click('.graphiql-execute-button')
      await page.locator('.result-window', { hasText: name }).waitFor()
      await page.selectOption('#examples', { label: 'Changes as they happen' })
      // The stream begins when its position in the feed is known.
      const subscribed = page.waitForResponse(
        (response) => response.headers()['content-type'] === 'text/event-stream',
      )
      await page.click('.graphiql-execute-button')
      await subscribed
      await page
        .locator('.graphiql-execute-button[title*="Stop"], .graphiql-execute-button[aria-label*="Stop"]')
        .waitFor()
      for (const id of ['first', 'second']) {
        await writer.put(`/planets/${id}-${width}`, { id: `${id}-${width}`, name: `The ${id} of ${width}` })
        await page.locator('.result-window', { hasText: `The ${id} of ${width}` }).waitFor()
      }
      const isFitting = await page.evaluate<boolean>(
        'document.documentElement.scrollWidth <= window.innerWidth',
      )
      t.true(isFitting)
      t.deepEqual(outside, [])
      t.deepEqual(problems, [])
      const kept = await page.evaluate<unknown[]>(
        "[sessionStorage.getItem('halgraph.token'), localStorage.length]",
      )
      t.deepEqual(kept, [(writer.authorization as string).replace('Bearer ', ''), 0])
    },
  )
}

test.serial(
  'a name in a drawing opens its section, and a type leads to its query in the explorer',
  async (t) => {
    const page = await openPage(t, { viewport: { width: 390, height: 844 } })
    if (!page) return t.pass()
    const { origin, writer } = service()
    await writer.post('/missions', { name: 'Drawn' })
    await page.goto(`${origin}/errors`)
    const token = (writer.authorization as string).replace('Bearer ', '')
    await page.evaluate(`sessionStorage.setItem('halgraph.token', ${JSON.stringify(token)})`)
    await page.goto(`${origin}/model`)
    const drawings = page.locator('.diagram')
    await drawings.first().getByRole('link', { name: 'Spacecraft', exact: true }).click()
    await page.locator('#entity-spacecraft').getByText('crew_capacity', { exact: true }).waitFor()
    await drawings.last().getByRole('link', { name: 'Mission', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.locator('#type-Mission').getByRole('link', { name: 'Query it in the explorer' }).click()
    await page.getByText('newestMissions').first().waitFor()
    await page.click('.graphiql-execute-button')
    await page.locator('.result-window', { hasText: 'Drawn' }).waitFor()
    t.is(new URL(page.url()).hash, '#example=missions')
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click()
    await page.locator('.graphiql-doc-explorer-search input').fill('crewCapacity')
    await page.getByRole('option', { name: 'Spacecraft.crewCapacity' }).first().click()
    await page.locator('.graphiql-doc-explorer-title', { hasText: 'crewCapacity' }).waitFor()
  },
)

test.serial('an example that is named in the address of an open explorer is shown', async (t) => {
  const page = await openPage(t)
  if (!page) return t.pass()
  await page.goto(`${service().origin}/graphql#example=missions`)
  await page.getByText('newestMissions').first().waitFor()
  await page.evaluate("location.hash = '#example=planets'")
  await page.getByText('newestPlanets').first().waitFor()
  t.pass()
})

test.serial(
  'the explorer follows the colours of the browser, and keeps no headers that a person enters',
  async (t) => {
    for (const colorScheme of ['dark', 'light'] as const) {
      const page = await openPage(t, { colorScheme })
      if (!page) return t.pass()
      await page.goto(`${service().origin}/graphql`)
      await page.locator(`body.graphiql-${colorScheme}`).waitFor()
      await page.getByRole('button', { name: 'Headers' }).click()
      await page.locator('.graphiql-editor-tool .CodeMirror:visible').click()
      await page.keyboard.type('{"X-Secret":"entered"')
      await page.getByText('entered').first().waitFor()
      // GraphiQL stores what is entered half a second later.
      await page.waitForTimeout(1_500)
      t.notRegex(await page.evaluate<string>('JSON.stringify(sessionStorage)'), /entered/)
      await page.getByRole('button', { name: 'Open settings dialog' }).click()
      await page.getByText('Clear storage').waitFor()
      t.is(await page.getByText('Persist headers').count(), 0)
    }
  },
)

function watchOutside(page: Page, origin: string): string[] {
  const outside: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) outside.push(request.url())
  })
  return outside
}

/** What the page complains of, but for the answer to what it asks before there is a token. */
function watchProblems(page: Page): string[] {
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('401')) problems.push(message.text())
  })
  return problems
}
