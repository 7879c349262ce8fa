import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { openPage } from '../helpers/service/browser.ts'
import type { Client } from '../helpers/service/client.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'

// The pages as somebody sees them who is no programmer, in Berlin.

const service = shareTestService(test)

/** A page with the token of a client, if there is a browser. What it throws is a failure. */
async function openAs(t: ExecutionContext, client: Client, address: string): Promise<Page | undefined> {
  const page = await openPage(t, { locale: 'en-GB', timezoneId: 'Europe/Berlin' })
  if (!page) return void t.pass()
  page.on('pageerror', (error) => void t.fail(String(error)))
  const token = client.authorization?.replace('Bearer ', '')
  if (token) await page.addInitScript(`sessionStorage.setItem('halgraph.token', ${JSON.stringify(token)})`)
  await page.goto(address)
  return page
}

test('a list shows numbers, times and beginnings of long texts for people, and exact values and identifiers on demand', async (t) => {
  const { writer, base } = service()
  const long = `${'\u{1F469}\u200D\u{1F680}'.repeat(100)} at the end`
  await writer.put('/planets/exact', {
    id: 'exact',
    name: 'Exact',
    distance_parsecs: 1_234_567.125,
    discovery_year: 2031,
  })
  await writer.put('/missions/timed', {
    id: 'timed',
    name: 'כוכב לכת',
    objective: long,
    launch_date: '2031-06-01T12:30:15.123Z',
  })
  const page = await openAs(t, writer, `${base}/planets?filter=name:Exact`)
  if (!page) return
  await page.getByRole('link', { name: 'Exact', exact: true }).waitFor()
  const distance = page.getByRole('cell', { name: '1,234,567.125', exact: true })
  await distance.waitFor()
  t.is(await page.evaluate("getComputedStyle(document.querySelector('td.number')).textAlign"), 'end')
  t.is(await page.getByRole('cell', { name: 'exact', exact: true }).count(), 0)
  await page.getByText('Columns', { exact: true }).click()
  await page.getByRole('checkbox', { name: 'ID', exact: true }).check()
  await page.getByRole('cell', { name: 'exact', exact: true }).waitFor()
  await page.reload()
  await page.getByRole('cell', { name: 'exact', exact: true }).waitFor()

  await page.goto(`${base}/missions`)
  const time = page.locator('time', { hasText: '1 Jun 2031' })
  t.is(await time.innerText(), '1 Jun 2031, 14:30 CEST')
  t.is(await time.getAttribute('title'), '2031-06-01T12:30:15.123Z')
  await time.focus()
  t.is(
    await page.evaluate("getComputedStyle(document.activeElement, '::after').content"),
    '"2031-06-01T12:30:15.123Z"',
  )
  const text = page.getByTitle('at the end')
  t.is((await text.innerText()).replaceAll('\u{1F469}\u200D\u{1F680}', ''), '…', 'no emoji is cut')
  t.is(await text.getAttribute('title'), long)
  const name = page.getByRole('link', { name: 'כוכב לכת' })
  await name.focus()
  t.is(await page.evaluate('getComputedStyle(document.activeElement).direction'), 'rtl')
})

test('filters are sentences, with a choice of the resources that a reference leads to', async (t) => {
  const { writer, base } = service()
  await writer.put('/planets/target', { id: 'target', name: 'Chosen target' })
  for (const [id, launch] of [
    ['early', '2031-03-01T11:00:00.000Z'],
    ['late', '2031-03-01T13:00:00.000Z'],
  ])
    await writer.put(`/missions/${id}`, {
      id,
      name: `Sentence ${id}`,
      destination_planet_id: 'target',
      launch_date: launch,
    })
  const page = await openAs(t, writer, `${base}/missions`)
  if (!page) return
  const add = async (field: string, condition: string) => {
    await page.getByText('Add a filter').click()
    await page.getByLabel('Field').selectOption({ label: field })
    await page.getByLabel('Condition').selectOption(condition)
  }
  const filter = () => page.getByRole('button', { name: 'Filter', exact: true }).click()
  await add('Destination', 'is')
  await page.getByRole('combobox', { name: 'Value' }).fill('chosen')
  await page.getByRole('option', { name: 'Chosen target' }).click()
  await filter()
  await page.getByText('Destination is Chosen target').waitFor()
  await page.getByText('2 items').waitFor()
  await add('Launch date', 'is before')
  await page.getByLabel('Value').fill('2031-03-01T13:30')
  await filter()
  await page.getByText('Launch date is before 1 Mar 2031, 13:30 CET').waitFor()
  await page.getByText('1 item', { exact: false }).waitFor()
  await page.getByRole('link', { name: 'Sentence early' }).waitFor()
  await page.getByRole('link', { name: 'Remove the filter: Launch date is before' }).click()
  await page.getByText('2 items').waitFor()
  t.is(await page.getByRole('list', { name: 'Filters' }).locator('li').count(), 1)
})

test('a form has local times, and leaving it with changes asks', async (t) => {
  const { writer, base } = service()
  const { body } = await writer.post('/missions', { name: 'Local', launch_date: '2031-06-01T12:30:00.000Z' })
  const page = await openAs(t, writer, `${base}/missions/${body.id}`)
  if (!page) return
  const dialogs: string[] = []
  let isAccepted = false
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.type())
    return isAccepted ? dialog.accept() : dialog.dismiss()
  })
  const form = page.locator('form.template')
  await page.getByRole('button', { name: 'Edit' }).click()
  t.is(await form.getByLabel('Launch date').inputValue(), '2031-06-01T14:30')
  await form.getByText('In your time zone, Europe/Berlin.').waitFor()
  await form.getByRole('button', { name: 'Cancel' }).click()
  t.deepEqual([dialogs, await form.count()], [[], 0])

  await page.getByRole('button', { name: 'Edit' }).click()
  await form.getByLabel('Launch date').fill('2031-12-01T14:30')
  await form.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('link', { name: 'Back' }).click()
  t.deepEqual([dialogs, await form.count()], [['confirm', 'beforeunload'], 1])
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await form.waitFor({ state: 'detached' })
  t.is((await writer.get(`/missions/${body.id}`)).body.launch_date, '2031-12-01T13:30:00.000Z')
  await page.getByRole('button', { name: 'Edit' }).click()
  await form.getByLabel('Name').fill('Not saved')
  isAccepted = true
  await form.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('link', { name: 'Back' }).click()
  await page.getByRole('heading', { name: 'Missions' }).waitFor()
  t.deepEqual(dialogs, ['confirm', 'beforeunload', 'confirm'])
})

test('a conflict shows the labels and names of the values that differ', async (t) => {
  const { writer, base } = service()
  await writer.put('/planets/mine', { id: 'mine', name: 'My planet' })
  await writer.put('/planets/theirs', { id: 'theirs', name: 'Their planet' })
  const { body } = await writer.post('/missions', { name: 'Contested by name', objective: 'First' })
  const page = await openAs(t, writer, `${base}/missions/${body.id}`)
  if (!page) return
  const form = page.locator('form.template')
  await page.getByRole('button', { name: 'Edit' }).click()
  // Until the planets are read, the control is a text field.
  await form.locator('select#field-destination_planet_id').waitFor()
  await form.getByLabel('Destination').selectOption({ label: 'My planet' })
  await form.getByLabel('Launch date').fill('2031-06-01T14:30')
  const launch = '2031-01-01T12:00:00.000Z'
  await writer.patch(`/missions/${body.id}`, {
    objective: 'Second',
    destination_planet_id: 'theirs',
    launch_date: launch,
  })
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const rows = page.getByRole('region', { name: 'Differences' }).locator('tbody tr')
  await rows.getByText('Their planet').waitFor()
  const expected = [
    'Launch date\t1 Jun 2031, 14:30 CEST\t1 Jan 2031, 13:00 CET',
    'Destination\tMy planet\tTheir planet',
  ]
  t.deepEqual((await rows.allInnerTexts()).sort(), expected.sort())
})

test('a problem that a rule finds names the label of its field, and its code only on demand', async (t) => {
  const { writer, base } = service()
  const page = await openAs(t, writer, `${base}/species`)
  if (!page) return
  await page.getByRole('button', { name: 'Create a species' }).click()
  const form = page.locator('form.template')
  await form.getByLabel('Scientific name').fill('Ordered')
  const range = form.getByRole('group', { name: 'Temperature range' })
  await range.getByLabel('Minimum (°C)').fill('5')
  await range.getByLabel('Maximum (°C)').fill('1')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const problem = page.locator('[id="field-temperature_range.min_celsius-problem"]')
  t.regex(await problem.innerText(), /^Temperature range: Minimum \(°C\) must not exceed .*Maximum \(°C\)\.$/)
  const alert = form.getByRole('alert')
  t.notRegex(await alert.innerText(), /[A-Z]+_|celsius/)
  await alert.getByText('Details for developers').click()
  await alert.getByRole('link', { name: 'VALIDATION_FAILED' }).waitFor()
})

test('a problem that is not of a field is in a list above the form', async (t) => {
  const { writer, base } = service()
  const page = await openAs(t, writer, `${base}/species`)
  if (!page) return
  const details = [{ field: 'elsewhere', code: 'INVALID_RANGE', message: 'The orbits cross.' }]
  const json = { error: { code: 'BUSINESS_RULE_VIOLATION', message: 'A rule is violated.', details } }
  await page.route('**/species', (route) =>
    route.request().method() === 'POST' ? route.fulfill({ status: 422, json }) : route.fallback(),
  )
  await page.getByRole('button', { name: 'Create a species' }).click()
  const form = page.locator('form.template')
  await form.getByLabel('Scientific name').fill('Ordered')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await form.getByRole('alert').getByText('A rule is violated.').waitFor()
  t.deepEqual(await form.getByRole('alert').locator('li').first().allInnerTexts(), ['The orbits cross.'])
})

test('after a deletion the list leads to the history, from which the resource is restored', async (t) => {
  const { writer, base } = service()
  await writer.put('/planets/undone', { id: 'undone', name: 'Undone' })
  const page = await openAs(t, writer, `${base}/planets/undone`)
  if (!page) return
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('You can restore it from there.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('status').getByText('“Undone” was deleted.').waitFor()
  await page.getByRole('link', { name: 'Restore it from its history' }).click()
  await page.getByRole('button', { name: 'Restore version 1' }).click()
  await page.getByRole('button', { name: 'Restore', exact: true }).click()
  await page.getByRole('heading', { name: 'Undone', exact: true }).waitFor()
  t.is((await writer.get('/planets/undone')).status, 200)
})

test('the page of a resource sets a singleton that does not exist, and edits one that does', async (t) => {
  const { writer, base } = service()
  await writer.put('/planets/single', { id: 'single', name: 'Single' })
  const page = await openAs(t, writer, `${base}/planets/single`)
  if (!page) return
  await page.getByRole('button', { name: 'Set the atmosphere' }).click()
  await page.getByLabel('Dominant gas').fill('argon')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('link', { name: 'Edit the atmosphere' }).click()
  t.is(await page.getByLabel('Dominant gas').inputValue(), 'argon')
  await page.getByLabel('Dominant gas').fill('neon')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.locator('form.template').waitFor({ state: 'detached' })
  await page.locator('dd', { hasText: 'neon' }).waitFor()
  t.is((await writer.get('/planets/single/atmosphere')).body.dominant_gas, 'neon')
  t.is(await page.locator('form.template').count(), 0)
})

test('an empty list says what to do next, and a page without access where tokens come from', async (t) => {
  const { writer, reader, anonymous, base, origin } = await startTestService(t)
  const page = await openAs(t, writer, `${base}/planets`)
  if (!page) return
  await page.locator('.empty', { hasText: 'npx halgraph seed' }).waitFor()
  await page.getByRole('button', { name: 'Create the first planet' }).click()
  await page.locator('form.template').getByLabel('Name').waitFor()
  await page.goto(`${origin}/`)
  await page.locator('summary', { hasText: 'Planets' }).click()
  await page.locator('.empty', { hasText: 'npx halgraph seed' }).first().waitFor()
  const reading = (await openAs(t, reader, `${base}/planets`)) as Page
  await reading.getByText('Your token does not permit creating anything here.').waitFor()
  await reading.goto(`${base}/planets/none`)
  await reading.getByRole('heading', { name: 'Not found' }).waitFor()
  const without = (await openAs(t, anonymous, `${base}/planets`)) as Page
  await without.getByRole('alert').getByText('npx halgraph token').waitFor()
  await without.locator('.session').getByText('npx halgraph token').waitFor()
  t.pass()
})
