import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { openPage } from '../helpers/service/browser.ts'
import type { Client } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

const HOSTILE = `<img src=x onerror="document.title='owned'">`

/** Opens a page with the token of a client, if there is a browser. */
async function browsing(
  t: ExecutionContext,
  client: Client,
  path: string,
  work: (page: Page) => Promise<void>,
): Promise<boolean> {
  const page = await openPage(t)
  if (!page) {
    t.pass()
    return false
  }
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  await page.goto(service().base + path)
  await page.getByLabel('Access token').fill((client.authorization as string).replace('Bearer ', ''))
  await page.getByRole('button', { name: 'Use token' }).click()
  await work(page)
  t.deepEqual(problems, [])
  return true
}

const versionAt = (page: Page, number: number) => page.locator('.history > li').nth(number)

test('the history shows who changed what, and restores a version unless it has changed since', async (t) => {
  const { withSubject, writer } = service()
  await withSubject('ada').put('/planets/vesta', { id: 'vesta', name: 'Vesta', host_star: 'Sol' })
  await withSubject('ben').patch('/planets/vesta', { name: HOSTILE, host_star: null })
  const hasRun = await browsing(t, writer, '/planets/vesta', async (page) => {
    await page.getByRole('link', { name: 'History', exact: true }).click()
    await page.getByRole('heading', { name: `${HOSTILE}: history` }).waitFor()
    const latest = versionAt(page, 0)
    await latest.getByText('Version 2, current').waitFor()
    t.regex(await latest.innerText(), /Changed[\s\S]*UTC by ben/)
    t.deepEqual(await latest.getByRole('region').first().locator('tbody tr').allInnerTexts(), [
      `Name\tVesta\t${HOSTILE}`,
      'Host star\tSol\t–',
    ])
    t.is(await latest.getByRole('button', { name: 'Restore version 2' }).count(), 0)
    await page.getByRole('button', { name: 'Restore version 1' }).click()
    t.notRegex(await page.getByRole('dialog').innerText(), /PUT|If-Match/)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await writer.patch('/planets/vesta', { host_star: 'Rigel' })
    await page.getByRole('button', { name: 'Restore version 1' }).click()
    await page.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByRole('alert').waitFor()
    t.is((await writer.get('/planets/vesta')).body.host_star, 'Rigel')
    await page.reload()
    await page.getByRole('button', { name: 'Restore version 1' }).click()
    await page.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByRole('heading', { name: 'Vesta', exact: true }).waitFor()
    t.is(await page.evaluate('document.activeElement.tagName'), 'H1')
    t.not(await page.title(), 'owned')
  })
  if (hasRun) t.like((await writer.get('/planets/vesta')).body, { name: 'Vesta', host_star: 'Sol' })
})

test('the page of a deleted resource leads to its history, from which it is created again', async (t) => {
  const { writer } = service()
  await writer.put('/planets/lost', { id: 'lost', name: 'Lost' })
  await writer.put('/planets/lost/atmosphere', { dominant_gas: 'neon' })
  await writer.delete('/planets/lost')
  const hasRun = await browsing(t, writer, '/planets/lost', async (page) => {
    await page.getByRole('link', { name: 'History', exact: true }).click()
    await page.getByText('Restoring a version creates it again.').waitFor()
    t.regex(await versionAt(page, 0).innerText(), /^Deleted/)
    await page.getByRole('button', { name: 'Restore version 1' }).click()
    await page.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByRole('heading', { name: 'Lost', exact: true }).waitFor()
    await page.goto(`${service().base}/planets/lost/atmosphere/versions/1`)
    await page.getByRole('heading', { name: 'neon: version 1' }).waitFor()
    await page.getByRole('cell', { name: 'neon' }).waitFor()
    await page.getByRole('button', { name: 'Restore version 1' }).click()
    await page.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByRole('link', { name: 'History', exact: true }).waitFor()
  })
  if (hasRun) t.is((await writer.get('/planets/lost/atmosphere')).body.dominant_gas, 'neon')
})

test('older versions are shown on request, and a token that may not write restores none', async (t) => {
  const { writer, reader } = service()
  for (let mass = 1; mass <= 4; mass++)
    await writer.put('/planets/aged', { id: 'aged', name: 'Aged', mass_jupiters: mass })
  await browsing(t, reader, '/planets/aged/versions?limit=2', async (page) => {
    await versionAt(page, 1).waitFor()
    t.is(await page.locator('.history > li').count(), 2)
    // What the version before has is not loaded yet.
    t.is(await versionAt(page, 1).getByText('Before').count(), 0)
    await page.getByRole('button', { name: 'Show older versions' }).click()
    await versionAt(page, 3).waitFor()
    t.deepEqual(await versionAt(page, 1).getByRole('region').first().locator('tbody tr').allInnerTexts(), [
      'Mass (Jupiter masses)\t2\t3',
    ])
    t.is(await page.getByRole('button', { name: 'Show older versions' }).count(), 0)
    await page.getByText('Version 4, current').waitFor()
    t.is(await page.getByRole('button', { name: /Restore/ }).count(), 0)
  })
})
