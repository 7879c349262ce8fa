import test from 'ava'
import type { Page } from 'playwright-core'
import { resources } from '../helpers/domain/domain.ts'
import { Fixtures } from '../helpers/domain/fixtures.ts'
import { openPage } from '../helpers/service/browser.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

/** What a page shows instead of a value that a script did not expect. */
const BROKEN = /\bundefined\b|\bNaN\b|\[object |Loading…/

/** What is wrong with the page at an address. */
async function problemsAt(page: Page, address: string): Promise<string[]> {
  const problems: string[] = []
  const report = (error: Error) => problems.push(String(error))
  page.on('pageerror', report)
  await page.goto(address)
  await page
    .locator('#view h1:not(:text("Loading…")), main h1, .graphiql-container')
    .first()
    .waitFor({ timeout: 20_000 })
    .catch(report)
  // Lists, which follow the feed, are never idle.
  await page.waitForTimeout(300)
  // Not waitForFunction: from its second look on it calls eval in the page, which the policy refuses.
  await page
    .locator(':text("Loading…"):visible')
    .first()
    .waitFor({ state: 'detached', timeout: 20_000 })
    .catch(report)
  const [found] = BROKEN.exec(await page.locator('body').innerText()) ?? []
  page.off('pageerror', report)
  return [...problems, ...(found === undefined ? [] : [`shows ${found}`])].map(
    (problem) => `${address}: ${problem}`,
  )
}

test.serial('every address of the interface shows a page, without an error of a script', async (t) => {
  const page = await openPage(t)
  if (!page) return t.pass()
  const { writer, base, origin } = service()
  const fixtures = new Fixtures(writer)
  const addresses = [
    '',
    '/changes',
    '/changes?since=now',
    '/changes?limit=1',
    '/changes?since=bad',
    '/unknown',
    '/batch',
  ]
  for (const resource of resources) {
    const { path, collection, answer } = await fixtures.create(resource)
    const relations = Object.entries(
      (await writer.get(path)).body._links as Record<string, { templated?: boolean }>,
    )
    const embed = relations
      .filter(([name, link]) => link && !['self', 'collection', 'parent', 'edit', 'delete'].includes(name))
      .map(([name]) => name)
    addresses.push(
      collection,
      `${collection}?${resource.listed ? 'limit=1&sort=id:asc' : 'limit=0'}`,
      `${collection}/none`,
      path,
      `${path}?fields=id${embed.length > 0 ? `&embed=${embed}` : ''}`,
      `${path}/versions`,
      `${path}/versions?limit=1`,
      `${path}/versions/1`,
      `${path}/versions/9`,
      `/changes?collection=${resource.path}`,
    )
    t.truthy(answer)
  }
  const { path } = await fixtures.create(
    resources.find((one) => one.path === 'planets') ?? (resources[0] as never),
  )
  await writer.delete(path)
  addresses.push(path, `${path}/versions`, `${path}/versions/1`, `${path}/moons`)

  await page.goto(base)
  await page.getByLabel('Access token').fill((writer.authorization as string).replace('Bearer ', ''))
  await page.getByRole('button', { name: 'Use token' }).click()
  await page.getByRole('link', { name: 'Planets' }).waitFor()
  const problems: string[] = []
  for (const address of addresses) problems.push(...(await problemsAt(page, base + address)))
  for (const address of [
    '/',
    '/docs',
    '/docs#createPlanet',
    '/model',
    '/errors',
    '/errors/VALIDATION_FAILED',
    '/errors/NONE',
    '/none',
  ])
    problems.push(...(await problemsAt(page, origin + address)))
  t.deepEqual(problems, [])
})

test.serial('the page of the feed leads to each resource and version, and to the next changes', async (t) => {
  const page = await openPage(t)
  if (!page) return t.pass()
  const { withSubject, base } = service()
  const ada = withSubject('ada')
  const { _links: links } = (await ada.get('/changes?since=now&limit=1')).body
  await ada.put('/planets/vesta', { id: 'vesta', name: 'Vesta' })
  await ada.put('/planets/vesta/moons/luna', { id: 'luna', name: 'Luna' })
  await ada.delete('/planets/vesta/moons/luna')
  await page.goto(base)
  await page.getByLabel('Access token').fill((ada.authorization as string).replace('Bearer ', ''))
  await page.getByRole('button', { name: 'Use token' }).click()
  await page.getByRole('link', { name: 'Planets' }).waitFor()
  const row = () => page.getByRole('region', { name: 'Changes' }).locator('tbody tr')
  await page.goto(links.next.href)
  await row().waitFor()
  t.regex(await row().innerText(), /^vesta\tPlanets\tCreated\t1\t.* UTC\tada$/)
  await row().getByRole('link', { name: '1' }).click()
  await page.getByRole('heading', { name: 'Vesta: version 1' }).waitFor()
  await page.goBack()
  await row().getByRole('link', { name: 'vesta' }).click()
  await page.getByRole('heading', { name: 'Vesta', exact: true }).waitFor()
  await page.goBack()
  for (const event of ['Created', 'Deleted']) {
    await page.getByRole('link', { name: 'More changes' }).click()
    await page.getByRole('cell', { name: event }).waitFor()
    t.regex(await row().innerText(), /^luna\tMoons/)
  }
  await page.getByRole('link', { name: 'Look for newer changes' }).click()
  await page.getByText('There are no newer changes.').waitFor()
  t.pass()
})
