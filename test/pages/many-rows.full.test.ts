import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { openPage } from '../helpers/service/browser.ts'
import { shareTestService } from '../helpers/service/service.ts'

const COUNT = 50_000

const service = shareTestService(test)

test.serial.before(async () => {
  await service().database.client.prisma.$executeRaw`
    INSERT INTO planets (id, name, distance_parsecs)
    SELECT 'long-' || number, 'Long list ' || number, number FROM generate_series(0, ${COUNT - 1}::int) AS number`
})

async function openSignedIn(t: ExecutionContext, path: string): Promise<Page | undefined> {
  const page = await openPage(t)
  if (!page) return undefined
  page.on('pageerror', (error) => void t.fail(String(error)))
  const token = service().writer.authorization?.replace('Bearer ', '')
  await page.addInitScript(`sessionStorage.setItem('halgraph.token', ${JSON.stringify(token)})`)
  await page.goto(service().base + path)
  return page
}

test.serial(
  'a reference to a long list is searched while words are typed, by mouse and by keyboard',
  async (t) => {
    const { writer } = service()
    const page = await openSignedIn(t, '/missions')
    if (!page) return void t.pass()
    await page.getByRole('button', { name: 'Create a mission' }).click()
    await page.getByLabel('Name').first().fill('Picked')
    const picker = page.getByRole('combobox', { name: 'Destination' })
    await picker.fill('long 49999')
    await page.getByRole('option', { name: 'Long list 49999' }).click()
    t.is(await picker.inputValue(), 'Long list 49999')
    await picker.fill('list 7777')
    await page.getByRole('option', { name: 'Long list 7777', exact: true }).waitFor()
    const chosen = await page.locator('.picker [role=option]').allInnerTexts()
    for (let step = 0; step <= chosen.indexOf('Long list 7777'); step++) await picker.press('ArrowDown')
    await picker.press('Enter')
    await page.locator('[role=listbox]').waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { name: 'Picked' }).waitFor()
    await page.locator('dl').getByRole('link', { name: 'Long list 7777' }).waitFor()
    const { body } = await writer.get('/missions?name=Picked')
    t.is(body._embedded.missions[0].destination_planet_id, 'long-7777')
    await page.getByRole('button', { name: 'Edit' }).click()
    for (let wait = 0; wait < 600 && (await picker.inputValue()) !== 'Long list 7777'; wait++) await delay(50)
    t.is(await picker.inputValue(), 'Long list 7777')
  },
)

test.serial('a list of 50,000 items is searched, filtered and turned to its last page', async (t) => {
  const page = await openSignedIn(t, '/planets')
  if (!page) return void t.pass()
  await page.getByText('Page 1 of 2,500, 50,000 items').waitFor()
  await page.getByRole('link', { name: '100', exact: true }).click()
  await page.getByText('Page 1 of 500, 50,000 items').waitFor()
  t.is(await page.locator('tbody tr').count(), 100)
  await page.getByRole('link', { name: 'last' }).click()
  await page.getByText('Page 500 of 500').waitFor()
  await page.getByRole('link', { name: 'prev' }).click()
  await page.getByText('Page 499 of 500').waitFor()
  await page.getByLabel('Words to search for').fill('long 12345')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('link', { name: 'Long list 12345' }).waitFor()
  t.is(await page.locator('tbody tr').count(), 1)
  await page.goto(`${service().base}/planets`)
  await page.getByText('Add a filter').click()
  await page.getByLabel('Field').selectOption({ label: 'Distance' })
  await page.getByLabel('Condition').selectOption('is at least')
  await page.getByLabel('Value').fill('49990')
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByText('Distance is at least 49,990 parsecs').waitFor()
  await page.getByText('10 items').waitFor()
})
