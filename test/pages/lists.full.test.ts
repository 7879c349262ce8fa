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
