import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { until } from '../helpers/process/until.ts'
import { openPage } from '../helpers/service/browser.ts'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

const HOSTILE = `<img src=x onerror="document.title='owned'">`

/** Puts the token of a writer into the session of a page, as a person does. */
async function signIn(page: Page, t: ExecutionContext): Promise<void> {
  await page.goto(service().base)
  await page.getByLabel('Access token').fill(tokenOf(t))
  await page.getByRole('button', { name: 'Use token' }).click()
  await page.locator('summary', { hasText: /^Token/ }).waitFor()
  await page.getByRole('heading', { name: 'Collections' }).waitFor()
  t.true(await page.evaluate<boolean>(TITLE_IS_FIRST), 'the title stays above the request')
}

/** The heading of the last collection that the landing page shows, once it has been counted. */
const lastTitle = { name: 'Training records' }

async function signInOnLandingPage(page: Page, t: ExecutionContext): Promise<void> {
  await page.locator('summary', { hasText: 'Access token' }).click()
  await page.getByLabel('Access token').fill(tokenOf(t))
  await page.getByRole('button', { name: 'Use token' }).click()
  await page.getByRole('heading', lastTitle).waitFor()
}

const TITLE_IS_FIRST =
  "(document.querySelector('#view h1').compareDocumentPosition(document.querySelector('#view details')) & 4) > 0"

test('no text of a resource is executed, sorts have signs, and the request of a page is shown with its response', async (t) => {
  const { writer, base } = service()
  const { body } = await writer.post('/species', { scientific_name: HOSTILE, habitat: '</script><b>x' })
  await browsing(t, async (page) => {
    await signIn(page, t)
    await page.getByRole('link', { name: 'Species', exact: true }).click()
    for (const [direction, sign] of [
      ['ascending', '▲'],
      ['descending', '▼'],
    ]) {
      await page.getByRole('columnheader').getByRole('link', { name: 'Scientific name' }).click()
      const head = page.locator(`th[aria-sort=${direction}]`)
      await head.waitFor()
      t.is(await head.innerText(), `Scientific name ${sign}`)
    }
    await page.goto(`${base}/species?filter=habitat:nowhere`)
    await page.getByRole('link', { name: 'Show all' }).click()
    await page.getByText(HOSTILE, { exact: true }).click()
    await page.getByRole('heading', { name: HOSTILE }).waitFor()
    t.is(await page.locator('main img, main b').count(), 0)
    t.not(await page.title(), 'owned')
    await page.getByText('The request and its response').click()
    const blocks = await page.locator('pre').allInnerTexts()
    const { _templates, ...shown } = JSON.parse(blocks[0] ?? '')
    t.deepEqual(shown, (await writer.get(`/species/${body.id}`)).body)
    t.regex(blocks[1] ?? '', /^curl -H "Authorization: Bearer \$TOKEN" '/)
    t.regex(blocks[2] ?? '', /species\(id: \$id\)/)
  })
})

test('another sort begins with the first page, and a page before that has shrunk is shown', async (t) => {
  const { writer, base } = service()
  const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const put = (id: string) => writer.put(`/astronauts/${id}`, { id, name: `Paged ${id}` })
  for (const id of ids) await put(id)
  await browsing(t, async (page) => {
    const shown = async (...names: string[]) => {
      await page.getByRole('link', { name: `Paged ${names[0]}` }).waitFor()
      t.deepEqual(
        await page.getByRole('link', { name: /^Paged/ }).allInnerTexts(),
        names.map((name) => `Paged ${name}`),
      )
    }
    const turn = (relation: string) => page.getByRole('link', { name: relation, exact: true }).click()
    const list = `${base}/astronauts?limit=2&filter=name[prefix]:Paged&sort=`
    await signIn(page, t)
    await page.goto(`${list}created_date:asc`)
    await shown('a', 'b')
    await turn('next')
    await shown('c', 'd')
    await turn('next')
    await shown('e', 'f')
    await turn('prev')
    await shown('c', 'd')
    await page.getByRole('link', { name: 'Name', exact: true }).click()
    await page.getByText('Page 1 of 4').waitFor()
    await shown('a', 'b')

    await page.goto(`${list}name:asc`)
    await turn('next')
    await shown('c', 'd')
    await turn('next')
    await shown('e', 'f')
    for (const id of ['a', 'b', 'c']) await writer.delete(`/astronauts/${id}`)
    await turn('prev')
    await page.getByText('Page 1 of 2').waitFor()
    await shown('d')
    await turn('next')
    await shown('e', 'f')
    await writer.delete('/astronauts/d')
    await turn('prev')
    await page.getByText('Page 1 of 2').waitFor()
    await shown('e', 'f')
  })
})

test('a list tells how often its collection has changed, and reads it again', async (t) => {
  const { writer, base } = service()
  await writer.put('/spacecraft/known', { id: 'known', name: 'Known', kind: 'rover' })
  await browsing(t, async (page) => {
    await signIn(page, t)
    const followed = page.waitForResponse((response) => response.url().includes('/changes?'))
    await page.goto(`${base}/spacecraft`)
    await followed
    t.is(await page.getByRole('button', { name: 'Reload' }).count(), 0)
    await writer.put('/spacecraft/live', { id: 'live', name: 'Live', kind: 'rover' })
    await page.getByText('1 change in this collection').waitFor()
    await writer.delete('/spacecraft/known')
    await page.getByText('2 changes in this collection').waitFor()
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('link', { name: 'Live' }).waitFor()
    await page.locator('h1:focus').waitFor()
    t.is(await page.getByRole('link', { name: 'Known' }).count(), 0)
    t.is(await page.getByRole('button', { name: 'Reload' }).count(), 0)
  })
})

test('changes are asked for again a while after their stream ends, and not after it is refused', async (t) => {
  const { base } = service()
  await browsing(t, async (page) => {
    await signIn(page, t)
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 1_000)
    const statuses = [200, 401]
    const asked: (string | undefined)[] = []
    await page.route('**/changes?*', (route) => {
      asked.push(route.request().headers()['last-event-id'])
      const contentType = 'text/event-stream'
      return route.fulfill({ status: statuses.shift() ?? 500, contentType, body: 'id: one\n\n' })
    })
    await page.goto(`${base}/spacecraft`)
    await until(async () => {
      await page.clock.runFor(100)
      return asked.length > 0
    })
    await page.waitForTimeout(500)
    t.is(asked.length, 1)
    await until(async () => {
      await page.clock.runFor(5_000)
      return asked.length === 2
    })
    for (let wait = 0; wait < 10; wait++) {
      await page.waitForTimeout(50)
      await page.clock.runFor(5_000)
    }
    t.deepEqual(asked, [undefined, 'one'])
  })
})

test('a form that sets a singleton does not replace one; members of an object are set and deleted', async (t) => {
  const { writer, base } = service()
  const { body: planet } = await writer.post('/planets', { name: 'Breathing' })
  await browsing(t, async (page) => {
    await signIn(page, t)
    const atmosphere = `/planets/${planet.id}/atmosphere`
    await page.goto(`${base}/planets/${planet.id}`)
    await page.getByRole('button', { name: 'Set the atmosphere' }).click()
    await page.getByLabel('Composition').fill('neon: 0.25')
    await writer.put(atmosphere, { composition: { argon: 0.25 } })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('alert').waitFor()
    t.deepEqual((await writer.get(atmosphere)).body.composition, { argon: 0.25 })
    await page.getByLabel('Composition').fill('')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await writer.patch(atmosphere, { composition: { neon: 0.5 } })
    await page.goto(base + atmosphere)
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Composition').fill('neon: 0.5')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.locator('form.template').waitFor({ state: 'detached' })
    t.deepEqual((await writer.get(atmosphere)).body.composition, { neon: 0.5 })
  })
})

test('a form keeps the members of an object that are not touched, whatever their names, and refuses equal ones', async (t) => {
  const { writer, base } = service()
  const { body: planet } = await writer.post('/planets', { name: 'Named gases' })
  const path = `/planets/${planet.id}/atmosphere`
  const stored = { ' lead': 0.1, 'a\nb': 0.2, '"': 0.05, 'x: 1': 0.15, argon: 0.3 }
  await writer.put(path, { composition: stored })
  await browsing(t, async (page) => {
    await signIn(page, t)
    await page.goto(base + path)
    const field = page.getByLabel('Composition')
    const save = () => page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    const text = await field.inputValue()
    await field.fill(`${text}\nlead : 0.01\n argon: 0.02`)
    await save()
    await page.getByText('The name "argon" is on more than one line.').waitFor()
    await field.fill(`${text.replace('argon: 0.3', 'argon: 0.25')}\nlead: 0.01\nneon:`)
    await save()
    await page.locator('#field-composition-problem', { hasText: 'Each line is a name' }).waitFor()
    await field.fill(`${text.replace('argon: 0.3', 'argon: 0.25').replace('a\\nb', 'a\\nc')}\nlead: 0.01`)
    await save()
    await page.locator('form.template').waitFor({ state: 'detached' })
    const { 'a\nb': renamed, ...kept } = stored
    const composition = { ...kept, 'a\nc': renamed, argon: 0.25, lead: 0.01 }
    t.deepEqual((await writer.get(path)).body.composition, composition)
  })
})

test('lists, items, filters and charts show names of references, as far as the token may read them', async (t) => {
  const { writer, withScope, base, origin } = service()
  const { body: planet } = await writer.post('/planets', { name: 'Named target' })
  const mission = {
    name: 'To a name',
    launch_date: '2031-06-01T12:30:00.000Z',
    destination_planet_id: planet.id,
  }
  const { body } = await writer.post('/missions', mission)
  await writer.put(`/planets/${planet.id}`, { name: 'Named target', distance_parsecs: 5 })
  await browsing(t, async (page) => {
    await signIn(page, t)
    const requests: string[] = []
    page.on('request', (request) => void requests.push(request.url()))
    await page.goto(`${base}/missions`)
    await page.getByRole('cell', { name: 'Named target' }).getByRole('link').waitFor()
    t.is(requests.filter((url) => url.includes('embed=destination')).length, 1)
    await page.goto(`${base}/missions/${body.id}`)
    await page.locator('time', { hasText: /2031.*12:30.*UTC/ }).waitFor()
    await page.locator('dl').getByRole('link', { name: 'Named target' }).click()
    await page.getByText('Distance (parsecs)', { exact: true }).waitFor()
    t.is(await page.getByText('Distance from the Sun, in parsecs.').count(), 0)
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByText('Distance from the Sun, in parsecs.').waitFor()
    await page.goto(`${base}/planets?filter=distance_parsecs[gte]:5`)
    await page.getByText('Distance is at least 5 parsecs').waitFor()
    await page.goto(`${origin}/`)
    await page.locator('summary', { hasText: 'Missions' }).click()
    await page.getByRole('img', { name: /^Destination\. .*Named target: 1/ }).waitFor()
    const token = withScope('missions:read').authorization?.replace('Bearer ', '')
    await page.evaluate(`sessionStorage.setItem('halgraph.token', ${JSON.stringify(token)})`)
    await page.goto(`${base}/missions`)
    await page.getByRole('cell', { name: planet.id }).waitFor()
  })
})

test('a new tab has the token of the others, and loses it with them', async (t) => {
  await browsing(t, async (page) => {
    await signIn(page, t)
    const other = await page.context().newPage()
    await other.goto(`${service().base}/species`)
    await other.locator('summary', { hasText: /^Token/ }).waitFor()
    await page.locator('summary', { hasText: /^Token/ }).click()
    await page.getByRole('button', { name: 'Forget token' }).click()
    await page.getByLabel('Access token').waitFor()
    await other.reload()
    await other.getByLabel('Access token').waitFor()
    t.is(await other.evaluate<number>('localStorage.length'), 0)
  })
})

test('the page of a resource reads its related resources in one request, or each by itself without all scopes', async (t) => {
  const { writer, withScope, base } = service()
  await writer.put('/planets/previewed', { id: 'previewed', name: 'Previewed' })
  await writer.put('/planets/previewed/moons/io', { id: 'io', name: 'Io of the preview' })
  const address = `${base}/planets/previewed`
  const read = async (page: Page) => {
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    await page.goto(address)
    await page.getByRole('link', { name: 'Io of the preview' }).waitFor()
    await page.locator('section.preview', { hasText: 'Atmosphere' }).getByText('Not set.').waitFor()
    return new Set(requests.filter((url) => url.startsWith(address)))
  }
  await browsing(t, async (page) => {
    await signIn(page, t)
    const embedding = `${address}?fields=id&embed=moons,atmosphere,species,missions`
    t.deepEqual(await read(page), new Set([address, embedding]))
    await page.locator('section.preview', { hasText: 'Missions' }).getByText('None.').waitFor()

    const token = withScope('planets:read moons:read atmosphere:read').authorization?.replace('Bearer ', '')
    await page.evaluate(`sessionStorage.setItem('halgraph.token', ${JSON.stringify(token)})`)
    t.true((await read(page)).has(`${address}/moons`))
    await page.locator('section.preview', { hasText: 'Missions' }).getByText('scope').waitFor()
  })
})

test('the landing page counts all collections in one request, or in more if that is refused', async (t) => {
  const { origin } = service()
  await browsing(t, async (page) => {
    const counts: number[] = []
    let allowed = 100
    await page.route('**/graphql', (route) => {
      const { query } = route.request().postDataJSON()
      const count = [...query.matchAll(/\w+Aggregate \{ groups \{ count \} \}/g)].length
      // Without a token, it asks what everyone may read.
      if (count > 0 && route.request().headers()['authorization']) counts.push(count)
      return count > allowed ? route.fulfill({ status: 400, json: { errors: [] } }) : route.continue()
    })
    await page.goto(`${origin}/`)
    await signInOnLandingPage(page, t)
    const collections = await page.locator('details.collection').count()
    t.deepEqual(counts, [collections])
    allowed = 3
    await page.reload()
    await page.getByRole('heading', lastTitle).waitFor()
    t.is(await page.locator('details.collection').count(), collections)
    t.true(counts.length > 3)
  })
})

test('the landing page counts all collections, and draws those that are opened', async (t) => {
  const { writer, origin } = service()
  await writer.post('/species', { scientific_name: 'Shown at first' })
  for (const [index, mass] of [1, 2, 2, 9].entries()) {
    await writer.post('/spacecraft', { name: `Charted ${index}`, kind: 'rover', dry_mass_kilograms: mass })
  }
  for (const name of ['Heavy', 'Heavier']) await writer.post('/planets', { name, mass_jupiters: 1.7e308 })
  await browsing(t, async (page) => {
    await page.goto(`${origin}/`)
    await page.locator('#status').getByText(/ready/).waitFor()
    t.is(await page.locator('canvas').count(), 0)
    await signInOnLandingPage(page, t)
    t.is(await page.locator('details[open]').count(), 1)
    await page.waitForLoadState('networkidle')
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    await page.locator('summary', { hasText: 'Spacecraft' }).focus()
    await page.keyboard.press('Enter')
    const region = page.getByRole('region', { name: 'Spacecraft', exact: true })
    await region.getByRole('img', { name: /Kind.*rover: \d/ }).waitFor()
    const mass = region.getByRole('img', { name: /^Dry mass \(kg\)/ })
    await mass.waitFor()
    t.is(
      await mass.getAttribute('aria-label'),
      'Dry mass (kg). 1 – 2: 1; 2 – 3: 2; 3 – 4: 0; 4 – 5: 0; 5 – 6: 0; 6 – 7: 0; 7 – 8: 0; 8 – 9: 1',
    )
    // One for the groups and the measures of its fields, one for all histograms.
    t.is(requests.filter((url) => url.endsWith('/graphql')).length, 2)
    await page.locator('summary', { hasText: 'Planets' }).click()
    await page.getByRole('row', { name: 'Mass (Jupiter masses) 1.7E308 1.7E308 1.7E308' }).waitFor()
  })
})

test('the landing page shows a collection without numbers if they cannot be read', async (t) => {
  const { writer, origin } = service()
  await writer.post('/spacecraft', { name: 'Without numbers', kind: 'rover' })
  await browsing(t, async (page) => {
    await page.route('**/graphql', (route) => {
      const isMeasuring = route.request().postDataJSON().query.includes('minimum')
      return isMeasuring ? route.fulfill({ status: 503, json: { errors: [] } }) : route.continue()
    })
    await page.goto(`${origin}/`)
    await signInOnLandingPage(page, t)
    await page.evaluate("for (const one of document.querySelectorAll('details.collection')) one.open = true")
    const region = page.getByRole('region', { name: 'Spacecraft', exact: true })
    await region.locator('ul.charts').waitFor({ state: 'attached' })
    t.is((await region.innerText()).trim(), '')
  })
})

test('axe finds no problem on the pages, in the light or the dark, and they fit a phone', async (t) => {
  const { writer, base, origin } = service()
  const { body } = await writer.post('/species', {
    scientific_name: `Long ${'name '.repeat(40)}`,
    classification: { kingdom: 'Animalia' },
    planet_origin: 'Kepler-442b',
  })
  await writer.patch(`/species/${body.id}`, { habitat: 'reef '.repeat(40) })
  const axe = await readFile(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')
  await browsing(t, async (page) => {
    const check = async (url: string, options: object) => {
      const violations = await page.evaluate<Json[]>(
        `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes[0].html })))`,
      )
      t.deepEqual(violations, [], url)
    }
    // With a stream, the network is never idle.
    await page.route('**/changes?*', (route) => route.abort())
    await page.setViewportSize({ width: 390, height: 844 })
    const paths = [
      base,
      `${base}/species`,
      `${base}/species/${body.id}`,
      `${base}/species/${body.id}/versions`,
      `${base}/species/none`,
      `${origin}/${'nowhere'.repeat(40)}`,
      `${origin}/errors`,
      `${origin}/errors/RESOURCE_GONE`,
      `${origin}/model`,
      `${origin}/model#entity-missions`,
      `${origin}/`,
    ]
    for (const url of paths) {
      await page.emulateMedia({ colorScheme: 'light' })
      await page.goto(url)
      await page.locator('h1').waitFor()
      const opener = page.getByRole('button', { name: /^(Create a|Edit|Restore)/ })
      if ((await opener.count()) > 0) await opener.first().click()
      await page.waitForLoadState('networkidle')
      await page.evaluate(axe)
      await check(url, {})
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      t.true((overflow as number) <= 0, `${url} is ${overflow} pixels too wide`)
      await page.emulateMedia({ colorScheme: 'dark' })
      await check(`${url} in the dark`, { runOnly: ['color-contrast'] })
      await page.evaluate(`sessionStorage.setItem('halgraph.token', ${JSON.stringify(tokenOf(t))})`)
    }
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto(`${base}/species`)
    await page.getByText('Columns', { exact: true }).click()
    await page.getByLabel('Mark all rows').check()
    await page.evaluate(axe)
    for (const work of ['Change', 'Delete']) {
      await page.getByRole('button', { name: `${work}…` }).click()
      await page.getByRole('heading', { name: new RegExp(`^${work} \\d+ row`) }).waitFor()
      await check(work, {})
    }
  })
})

test('a script of another origin can send a token, and read all headers of the response', async (t) => {
  const page = await openPage(t)
  if (!page) return void t.pass()
  const { base } = service()
  const dashboard = createServer((_, response) => response.end('A dashboard')).listen(0, '127.0.0.1')
  t.teardown(() => dashboard.close())
  await once(dashboard, 'listening')
  await page.goto(`http://127.0.0.1:${(dashboard.address() as AddressInfo).port}`)
  const request = JSON.stringify({ headers: { authorization: `Bearer ${tokenOf(t)}` } })
  const names = ['etag', 'link', 'x-request-id', 'vary']
  const read = `fetch('${base}/species', ${request}).then(({ headers }) => [...headers.keys()])`
  const readable = await page.evaluate<string[]>(read)
  for (const name of names) t.true(readable.includes(name), name)
})

function tokenOf(_: ExecutionContext): string {
  return service().writer.authorization?.replace('Bearer ', '') as string
}

/** Runs in a page of its own. Anything the page asks of another origin, or throws, is a failure. */
async function browsing(t: ExecutionContext, use: (page: Page) => Promise<void>): Promise<void> {
  const page = await openPage(t)
  if (!page) return void t.pass()
  page.on('pageerror', (error) => void t.fail(String(error)))
  page.on('dialog', () => void t.fail('a dialog was opened'))
  page.on('request', (request) => {
    if (!request.url().startsWith(service().origin) && !request.url().startsWith('data:'))
      t.fail(request.url())
  })
  await use(page)
}
