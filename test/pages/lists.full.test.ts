import { readFile } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { openPage } from '../helpers/service/browser.ts'
import type { Client } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

// What is done with all rows of a list, or several.

const service = shareTestService(test)

/** A page with the token of a client, if there is a browser. What it throws is a failure. */
async function openAs(t: ExecutionContext, client: Client, address: string): Promise<Page | undefined> {
  const page = await openPage(t, { locale: 'en-GB', timezoneId: 'UTC' })
  if (!page) return void t.pass()
  page.on('pageerror', (error) => void t.fail(String(error)))
  const token = client.authorization?.replace('Bearer ', '')
  await page.addInitScript(`sessionStorage.setItem('halgraph.token', ${JSON.stringify(token)})`)
  await page.goto(service().base + address)
  return page
}

async function saved(page: Page, format: string): Promise<{ name: string; text: string }> {
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: format, exact: true }).click()
  const file = await download
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') }
}

test('what a list shows is saved with the items of all pages, its filters, order and columns', async (t) => {
  const { writer } = service()
  await writer.put('/planets/saved', { id: 'saved', name: 'Saved, with a comma' })
  const objectives = ['=1+1', 'He said "go"', undefined]
  for (const [index, objective] of objectives.entries())
    await writer.put(`/missions/s${index}`, {
      id: `s${index}`,
      name: `Saved ${index}`,
      objective,
      destination_planet_id: 'saved',
    })
  await writer.put('/missions/other', { id: 'other', name: 'Other' })
  const page = await openAs(t, writer, '/missions?filter=name[prefix]:Saved&sort=name:desc&limit=1')
  if (!page) return
  await page.getByRole('cell', { name: 'Saved, with a comma' }).waitFor()
  await page.getByText('Columns', { exact: true }).click()
  for (const label of ['Status', 'Launch date', 'Spacecraft'])
    await page.getByRole('checkbox', { name: label }).uncheck()
  const csv = await saved(page, 'CSV')
  t.is(csv.name, 'missions.csv')
  const lines = [
    'ID,Name,Objective,Destination',
    's2,Saved 2,,"Saved, with a comma"',
    's1,Saved 1,"He said ""go""","Saved, with a comma"',
    `s0,Saved 0,'=1+1,"Saved, with a comma"`,
  ]
  t.is(csv.text, `\ufeff${lines.map((line) => `${line}\r\n`).join('')}`)
  await page.getByText('3 of 3 items').waitFor()
  const { name, text } = await saved(page, 'NDJSON')
  t.is(name, 'missions.ndjson')
  const items = text.trimEnd().split('\n')
  t.is(items.length, 3)
  t.deepEqual(JSON.parse(items[1] ?? ''), {
    id: 's1',
    name: 'Saved 1',
    objective: 'He said "go"',
    destination_planet_id: 'saved',
  })

  await page.route('**/missions?*', (route) => route.fulfill({ status: 503, json: {} }))
  await page.getByRole('button', { name: 'CSV' }).click()
  await page.getByText('Nothing was saved. The response has the status 503.').waitFor()
})

test('the columns of a list and their order are kept in the browser, and no token is', async (t) => {
  const { writer } = service()
  await writer.put('/spacecraft/kept', { id: 'kept', name: 'Kept', kind: 'rover' })
  const page = await openAs(t, writer, '/spacecraft')
  if (!page) return
  const heads = async () => {
    await page.getByRole('link', { name: 'Kept' }).waitFor()
    return page.getByRole('columnheader').allInnerTexts()
  }
  const usual = await heads()
  await page.getByText('Columns', { exact: true }).click()
  await page.getByRole('checkbox', { name: 'Kind' }).uncheck()
  await page.getByRole('checkbox', { name: 'Last updated' }).focus()
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Move Last updated to the left' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('columnheader', { name: 'Last updated' }).waitFor()
  const chosen = await heads()
  t.is(chosen.at(-2), 'Last updated')
  t.false(chosen.includes('Kind'))
  await page.reload()
  t.deepEqual(await heads(), chosen)
  t.deepEqual(await page.evaluate('Object.keys(localStorage)'), ['halgraph.columns.spacecraft'])
  await page.getByText('Columns', { exact: true }).click()
  await page.getByRole('button', { name: 'Usual columns' }).click()
  await page.getByRole('columnheader', { name: 'Kind' }).waitFor()
  t.deepEqual(await heads(), usual)
  await page.evaluate(`localStorage.setItem('halgraph.columns.spacecraft', 'gone')`)
  await page.reload()
  t.deepEqual(await heads(), usual)
})

test('each row of a list has one line, and what a column cuts is its tooltip', async (t) => {
  const { writer } = service()
  const long = 'A long purpose. '.repeat(20).trim()
  for (const [id, objective] of Object.entries({ brief: 'Brief', wordy: long }))
    await writer.put(`/missions/${id}`, { id, name: `Lined ${id}`, objective })
  const page = await openAs(t, writer, '/missions?filter=name[prefix]:Lined')
  if (!page) return
  await page.setViewportSize({ width: 390, height: 800 })
  await page.getByTitle(long).waitFor()
  const heights = (await page.evaluate(
    "[...document.querySelectorAll('tbody tr')].map((row) => row.getBoundingClientRect().height)",
  )) as number[]
  t.is(heights.length, 2)
  t.is(heights[0], heights[1])
})

/** Missions with this name and a number, and their list with all of them marked. */
async function openMarked(t: ExecutionContext, name: string, objectives: readonly string[]) {
  const { writer } = service()
  const id = name.toLowerCase()
  for (const [index, objective] of objectives.entries())
    await writer.put(`/missions/${id}-${index}`, {
      id: `${id}-${index}`,
      name: `${name} ${index}`,
      objective,
    })
  const page = await openAs(t, writer, `/missions?filter=name[prefix]:${name}&sort=name:asc`)
  if (!page) return undefined
  const stored = async () => {
    const answers = await Promise.all(objectives.map((_, index) => writer.get(`/missions/${id}-${index}`)))
    return answers.map(({ status, body }) => (status === 200 ? body.objective : status))
  }
  await page.getByLabel('Mark all rows').check()
  await page.getByText(`${objectives.length} marked`).waitFor()
  const work = page.getByRole('region', { name: 'Marked rows' })
  const outcome = () => work.getByRole('listitem').allInnerTexts()
  return { page, work, outcome, stored, path: (index: number) => `/missions/${id}-${index}` }
}

test('marked rows are changed together, with what the form says and nothing else, and each has its outcome', async (t) => {
  const opened = await openMarked(t, 'Joint', ['One', 'Two', 'Three'])
  if (!opened) return
  const { page, work, outcome, stored, path } = opened
  await page.getByLabel('Mark Joint 1').uncheck()
  await work.getByRole('button', { name: 'Change…' }).click()
  await work.getByText('Fields that you leave empty stay as they are.').waitFor()
  await work.getByLabel('Objective').fill('Together')
  await work.getByRole('button', { name: 'Save' }).click()
  await work.getByText('2 rows changed.').waitFor()
  t.deepEqual(await outcome(), ['Joint 0: Changed.', 'Joint 2: Changed.'])
  t.deepEqual(await stored(), ['Together', 'Two', 'Together'])
  t.is((await service().writer.get(path(0))).body.name, 'Joint 0')
  await work.getByRole('button', { name: 'Show the list again' }).click()
  await page.locator('h1:focus').waitFor()
  await page.getByRole('cell', { name: 'Together' }).first().waitFor()
})

test('a row that was changed after the list was shown is left out of the work, until it is included', async (t) => {
  const opened = await openMarked(t, 'Stale', ['One', 'Two'])
  if (!opened) return
  const { work, outcome, stored, path } = opened
  const { writer } = service()
  await writer.patch(path(0), { objective: 'Theirs' })
  await work.getByRole('button', { name: 'Change…' }).click()
  await work.getByRole('heading', { name: 'Change 1 row' }).waitFor()
  t.regex(
    (await outcome())[0] ?? '',
    /^Stale 0: changed after the list was shown\. Objective: One → Theirs\./,
  )
  await work.getByLabel('Objective').fill('Mine')
  await writer.patch(path(1), { objective: 'Theirs too' })
  await work.getByRole('button', { name: 'Save' }).click()
  await work.getByText('Nothing was saved: rows were changed meanwhile.').waitFor()
  t.deepEqual(await stored(), ['Theirs', 'Theirs too'])
  await work.getByLabel('Include it all the same').last().check()
  await work.getByRole('button', { name: 'Save' }).click()
  await work.getByText('1 row changed.').waitFor()
  t.deepEqual(await outcome(), ['Stale 0: Left as it was.', 'Stale 1: Changed.'])
  t.deepEqual(await stored(), ['Theirs', 'Mine'])
})

test('if one of the marked rows cannot be deleted, none is, and that row says why', async (t) => {
  const { writer } = service()
  for (const id of ['a', 'b'])
    await writer.put(`/planets/doomed-${id}`, { id: `doomed-${id}`, name: `Doomed ${id}` })
  await writer.put('/missions/to-doom', { id: 'to-doom', name: 'To doom', destination_planet_id: 'doomed-b' })
  const page = await openAs(t, writer, '/planets?filter=name[prefix]:Doomed&sort=name:asc')
  if (!page) return
  const work = page.getByRole('region', { name: 'Marked rows' })
  for (const id of ['a', 'b']) {
    await page.getByLabel(`Mark Doomed ${id}`).focus()
    await page.keyboard.press('Space')
  }
  await work.getByRole('button', { name: 'Delete…' }).click()
  await work.getByText('This also deletes what belongs to them: moons, atmosphere.').waitFor()
  await work.getByRole('button', { name: 'Delete', exact: true }).click()
  await work.getByRole('alert').waitFor()
  t.deepEqual(await work.getByRole('listitem').allInnerTexts(), [
    'Doomed a: Left as it was, like all.',
    'Doomed b: It cannot be deleted while missions refer to it.',
  ])
  t.is((await writer.get('/planets/doomed-a')).status, 200)
  await writer.delete('/missions/to-doom')
  await work.getByRole('button', { name: 'Delete', exact: true }).click()
  await work.getByText('2 rows deleted.').waitFor()
  for (const id of ['a', 'b']) t.is((await writer.get(`/planets/doomed-${id}`)).status, 410)
})

test('a problem of a value is said beside its field, and a token that may not write marks nothing', async (t) => {
  const opened = await openMarked(t, 'Refused', ['One', 'Two'])
  if (!opened) return
  const { page, work, stored } = opened
  await page.route('**/batch', (route) => {
    const message = 'operations[1]: The objective is too dull.'
    const details = [{ field: 'operations[1].objective', code: 'INVALID_VALUE', message: 'Too dull.' }]
    return route.fulfill({ status: 400, json: { error: { code: 'VALIDATION_FAILED', message, details } } })
  })
  await work.getByRole('button', { name: 'Change…' }).click()
  await work.getByLabel('Objective').fill('Dull')
  await work.getByRole('button', { name: 'Save' }).click()
  await work.getByText('Too dull.', { exact: true }).waitFor()
  t.is(await work.getByLabel('Objective').getAttribute('aria-invalid'), 'true')
  t.deepEqual(await stored(), ['One', 'Two'])
  const reading = await openAs(t, service().reader, '/missions?filter=name[prefix]:Refused')
  await reading?.getByRole('link', { name: 'Refused 1' }).waitFor()
  t.is(await reading?.getByRole('checkbox').filter({ visible: true }).count(), 0)
})
