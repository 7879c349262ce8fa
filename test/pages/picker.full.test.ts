import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { openPage } from '../helpers/service/browser.ts'
import { startTestService } from '../helpers/service/service.ts'

test('a reference to a long list is searched while words are typed, by mouse and by keyboard', async (t) => {
  const { writer, base, database } = await startTestService(t)
  await database.client.prisma.planet.createMany({
    data: Array.from({ length: 150 }, (_, index) => ({ id: `long-${index}`, name: `Long list ${index}` })),
  })
  const page = await openPage(t)
  if (!page) return void t.pass()
  page.on('pageerror', (error) => void t.fail(String(error)))
  await page.goto(`${base}/missions`)
  const token = writer.authorization?.replace('Bearer ', '')
  await page.evaluate(`sessionStorage.setItem('halgraph.token', ${JSON.stringify(token)})`)
  await page.reload()
  await page.getByRole('button', { name: 'Create a mission' }).click()
  await page.getByLabel('Name').first().fill('Picked')
  const picker = page.getByRole('combobox', { name: 'Destination' })
  await picker.fill('long 149')
  await page.getByRole('option', { name: 'Long list 149' }).click()
  t.is(await picker.inputValue(), 'Long list 149')
  await picker.fill('list 77')
  await page.getByRole('option', { name: 'Long list 77', exact: true }).waitFor()
  await picker.press('ArrowDown')
  await picker.press('Enter')
  await page.locator('[role=listbox]').waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { name: 'Picked' }).waitFor()
  await page.locator('dl').getByRole('link', { name: 'Long list 77' }).waitFor()
  const { body } = await writer.get('/missions?name=Picked')
  t.is(body._embedded.missions[0].destination_planet_id, 'long-77')
  await page.getByRole('button', { name: 'Edit' }).click()
  for (let wait = 0; wait < 600 && (await picker.inputValue()) !== 'Long list 77'; wait++) await delay(50)
  t.is(await picker.inputValue(), 'Long list 77')
})
