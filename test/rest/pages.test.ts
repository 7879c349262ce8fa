import { readFile } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { openBrowser } from '../helpers/browser.ts'
import type { Json } from '../helpers/client.ts'
import { shareTestService } from '../helpers/service.ts'

const service = shareTestService(test)
const HTML = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
const HOSTILE = `<img src=x onerror="document.title='owned'">`

test('a browser gets the same empty page for existing and missing resources, without a token', async (t) => {
  const { anonymous, writer } = service()
  const { body } = await writer.post('/planets', { name: 'Shell' })
  const known = await anonymous.get(`/planets/${body.id}`, HTML)
  const unknown = await anonymous.get('/nowhere/there', HTML)
  t.is(known.status, 200)
  t.is(known.headers.get('content-type'), 'text/html; charset=utf-8')
  t.is(known.text, unknown.text)
  t.false(known.text.includes(body.id))
  t.regex(known.headers.get('content-security-policy') ?? '', /default-src 'none'; script-src 'self'/)
})

test('a client that does not rank HTML first gets JSON, and needs a token', async (t) => {
  const { anonymous, reader } = service()
  t.is((await anonymous.get('/planets', { accept: '*/*' })).status, 401)
  t.is((await anonymous.get('/planets', { accept: 'application/json, text/html' })).status, 401)
  const answer = await reader.get('/planets', { accept: 'text/html;q=0.5, application/hal+json' })
  t.is(answer.headers.get('content-type'), 'application/hal+json')
  t.is((await anonymous.post('/planets', {}, HTML)).status, 401)
  t.is((await reader.get('/planets', { accept: 'text/html' })).status, 406)
})

test('the operation behind a response is shown on request, and does the same at /graphql', async (t) => {
  const { writer } = service()
  const name = 'Sønderborg ☄'
  const { body } = await writer.post('/planets', { name })
  t.is((await writer.get(`/planets/${body.id}`)).headers.get('graphql-operation'), null)
  const answer = await writer.get(`/planets/${body.id}`, { prefer: 'graphql-operation' })
  t.is(answer.headers.get('preference-applied'), 'graphql-operation')
  const operation = JSON.parse(answer.headers.get('graphql-operation') ?? '')
  t.is((await writer.graphql(operation.query, operation.variables)).data.resource.name, name)
  const list = await writer.get(`/planets?filter=name:${encodeURIComponent(name)}`, {
    prefer: 'graphql-operation',
  })
  const { variables } = JSON.parse(list.headers.get('graphql-operation') ?? '')
  t.deepEqual(variables.filter, { and: [{ name: { equals: name } }] })
})

test('a browser gets a page at an unknown address, and another client has to send a token', async (t) => {
  const { anonymous, reader, origin } = service()
  for (const path of ['/nowhere', '/errors/NO_SUCH_CODE', '/<b>/%ZZ']) {
    const { status, text, headers } = await anonymous.get(origin + path, HTML)
    t.deepEqual([status, headers.get('content-type')], [404, 'text/html; charset=utf-8'], path)
    t.true(text.includes('<h1>Not found</h1>') && !text.includes('<b>'), path)
    t.is((await anonymous.get(origin + path)).status, 401, path)
    t.is((await reader.get(origin + path)).status, 404, path)
  }
  t.is((await anonymous.post(`${origin}/nowhere`, {}, HTML)).status, 401)
})

test('pages load nothing from third parties', async (t) => {
  const { anonymous, origin, base } = service()
  const paths = ['/', '/docs', '/errors', '/model', '/no/where']
  for (const url of [base, ...paths.map((path) => origin + path)]) {
    const { text } = await anonymous.get(url, HTML)
    for (const [, address] of text.matchAll(/(?:src|href)="([^"]+)"/g)) {
      t.true(address === 'data:,' || new URL(address as string, url).origin === origin, address)
    }
  }
})

test('every page has the same header, names where it is in it, and follows the colour scheme', async (t) => {
  const { anonymous, origin, base } = service()
  const pages: Record<string, string | undefined> = {
    '/': undefined,
    [new URL(base).pathname]: 'Browse',
    [`${new URL(base).pathname}/planets/none`]: 'Browse',
    '/docs': 'Reference',
    '/graphql': 'GraphQL',
    '/model': 'Model',
    '/errors': 'Errors',
    '/errors/RESOURCE_GONE': undefined,
  }
  const headers = new Set<string>()
  for (const [path, current] of Object.entries(pages)) {
    const { text } = await anonymous.get(origin + path, HTML)
    const header = /<header>[\s\S]*<\/header>/.exec(text)?.[0] ?? ''
    t.is(/aria-current="page">([^<]+)/.exec(header)?.[1], current, path)
    headers.add(header.replace(' aria-current="page"', ''))
    t.true(text.includes('<meta name="color-scheme" content="light dark">'), path)
  }
  t.is(headers.size, 1)
  const targets = [...([...headers][0] ?? '').matchAll(/href="([^"]+)"/g)].map(([, href]) => href as string)
  t.is(targets.length, 7)
  for (const target of targets) t.is((await anonymous.get(target, HTML)).status, 200, target)
})

/** Puts the token of a writer into the session of a page, as a person does. */
async function signIn(page: Page, t: ExecutionContext): Promise<void> {
  await page.goto(service().base)
  await page.getByLabel('Access token').fill(tokenOf(t))
  await page.getByRole('button', { name: 'Use token' }).click()
  await page.getByText('With an access token.').waitFor()
  t.true(await page.evaluate<boolean>(TITLE_IS_FIRST), 'the title stays above the request')
}

const TITLE_IS_FIRST =
  "(document.querySelector('#view h1').compareDocumentPosition(document.querySelector('#view details')) & 4) > 0"

test('browsing, filtering, sorting and paging work with a token, and no text of a resource is executed', async (t) => {
  const { writer, base } = service()
  for (let number = 1; number <= 3; number++)
    await writer.post('/species', { scientific_name: `Browsed ${number}` })
  const { body } = await writer.post('/species', { scientific_name: HOSTILE, habitat: '</script><b>x' })
  await browsing(t, async (page) => {
    await signIn(page, t)
    await page.getByRole('link', { name: 'Species', exact: true }).click()
    await page.getByRole('heading', { name: 'Species' }).waitFor()
    await page.goto(`${base}/species?limit=2`)
    await page.getByRole('link', { name: 'next' }).click()
    await page.getByText('Page 2 of').waitFor()
    await page.getByLabel('Value').fill('Browsed')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText('3 items').waitFor()
    await page.getByRole('link', { name: 'Scientific name' }).click()
    await page.getByRole('link', { name: 'Scientific name' }).click()
    await page.locator('th[aria-sort=descending]').waitFor()
    await page.getByRole('link', { name: 'Browsed 3' }).waitFor()
    await page.goto(`${base}/species?filter=habitat:nowhere`)
    await page.getByText('Nothing matches the filters.').waitFor()
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
    await page.getByRole('button', { name: 'Forget token' }).click()
    await page.getByText('AUTHENTICATION_REQUIRED').first().waitFor()
  })
})

test('a person can create, change and delete a resource, and errors are next to their fields', async (t) => {
  const { writer, base } = service()
  const { body: planet } = await writer.post('/planets', { name: 'Formed' })
  await browsing(t, async (page) => {
    const form = page.locator('form.template')
    await signIn(page, t)
    await page.goto(`${base}/missions`)
    await page.getByRole('button', { name: 'Create a mission' }).click()
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.locator('#field-name[aria-invalid=true]').waitFor()
    await form.getByLabel('Name').fill('From a form')
    await form.getByLabel('Launch date').fill('2031-06-01T12:30')
    await form.getByLabel('Destination planet id').selectOption({ label: 'Formed' })
    await form.getByLabel('Status').selectOption('active')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.locator('#field-status-problem').waitFor()
    await form.getByLabel('Status').selectOption('planned')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.locator('h1:focus', { hasText: 'From a form' }).waitFor()
    const { pathname } = new URL(page.url())
    const path = pathname.replace(new URL(base).pathname, '')
    const created = (await writer.get(path)).body
    t.like(created, { name: 'From a form', status: 'planned', destination_planet_id: planet.id })
    await page.getByRole('link', { name: planet.id, exact: true }).waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.locator('button:focus', { hasText: 'Edit' }).click()
    await form.getByLabel('Objective').fill('To be saved')
    await form.getByLabel('Launch date').fill('')
    await writer.patch(path, { objective: 'Meanwhile' })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('region', { name: 'Differences' }).getByText('Meanwhile').waitFor()
    await page.getByRole('button', { name: 'Save my changes anyway' }).click()
    await page.getByRole('button', { name: 'Edit' }).waitFor()
    await page.locator('form.template').waitFor({ state: 'detached' })
    await page.locator('h1:focus').waitFor()
    const changed = (await writer.get(path)).body
    t.deepEqual([changed.objective, changed.launch_date], ['To be saved', undefined])
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').locator('button:focus', { hasText: 'Cancel' }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.locator('h1:focus', { hasText: 'Missions' }).waitFor()
    t.is((await writer.get(path)).status, 410)
  })
})

test('a form that sets a singleton does not replace one; members of an object are set and deleted', async (t) => {
  const { writer, base } = service()
  const { body: planet } = await writer.post('/planets', { name: 'Breathing' })
  await browsing(t, async (page) => {
    await signIn(page, t)
    for (const gas of ['argon', 'neon']) {
      await page.goto(`${base}/planets/${planet.id}`)
      await page.getByRole('button', { name: 'Set the atmosphere' }).click()
      await page.getByLabel('Composition').fill(`${gas}: 0.25`)
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      if (gas === 'argon') await page.locator('form.template').waitFor({ state: 'detached' })
      else await page.getByRole('alert').waitFor()
    }
    const atmosphere = `/planets/${planet.id}/atmosphere`
    t.deepEqual((await writer.get(atmosphere)).body.composition, { argon: 0.25 })
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
    await page.getByText('The name "argon" is in more than one line.').waitFor()
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

test('an address that is not percent-encoded has a page, and a problem is said once', async (t) => {
  await browsing(t, async (page) => {
    await signIn(page, t)
    await page.goto(`${service().base}/species/%ZZ`)
    await page.getByRole('heading', { name: '%ZZ' }).waitFor()
    await page.getByRole('link', { name: 'RESOURCE_NOT_FOUND' }).waitFor()
    await page.goto(`${service().base}/species?limit=0`)
    await page.getByRole('link', { name: 'INVALID_QUERY_PARAMETER' }).waitFor()
    const alert = await page.getByRole('alert').innerText()
    const messages = alert
      .split('\n')
      .map((line) => line.replace(/^[A-Z_]+(: )?/, ''))
      .filter(Boolean)
    t.is(messages.length, 1, alert)
  })
})

test('a new tab has the token of the others, and loses it with them', async (t) => {
  await browsing(t, async (page) => {
    await signIn(page, t)
    const other = await page.context().newPage()
    await other.goto(`${service().base}/species`)
    await other.getByText('With an access token.').waitFor()
    await page.getByRole('button', { name: 'Forget token' }).click()
    await page.getByLabel('Access token').waitFor()
    await other.reload()
    await other.getByLabel('Access token').waitFor()
    t.is(await other.evaluate<number>('localStorage.length'), 0)
  })
})

test('the root is a page for browsers only, and addresses that people guess lead to the pages', async (t) => {
  const { anonymous, origin, base } = service()
  t.regex((await anonymous.get(`${origin}/`, HTML)).text, /<h1>/)
  t.is((await anonymous.get(`${origin}/`)).status, 401)
  for (const [from, to] of [
    ['/docs/', `${origin}/docs`],
    ['/errors/', `${origin}/errors`],
    ['/graphql/', `${origin}/graphql`],
    ['/model/', `${origin}/model`],
    ['/openapi.json', `${base}/openapi.json`],
  ] as const) {
    const { status, headers } = await anonymous.get(origin + from)
    t.deepEqual([status, headers.get('location')], [308, to])
  }
})

test('the operations of the charts are within the limits, for every collection', async (t) => {
  const { anonymous, reader, origin } = service()
  const { body } = await anonymous.get(`${origin}/docs/assets/charts.json`)
  t.true(body.length > 5)
  for (const { count, query, charts, numbers, ranges, title } of body) {
    t.true((await reader.graphql(count)).data.total.groups.length <= 1, title)
    const { data, errors } = await reader.graphql(query)
    t.is(errors, undefined, title)
    t.true(charts.every(({ name }: Json) => Array.isArray(data[name].groups)))
    for (const { path } of numbers) {
      const filter = path.reduceRight((inner: object, name: string) => ({ [name]: inner }), { gte: 0, lt: 1 })
      const names = Array.from({ length: ranges.maximum }, (_, index) => `range${index}`)
      const counted = await reader.graphql(
        ranges.query,
        Object.fromEntries(names.map((name) => [name, filter])),
      )
      t.is(counted.errors, undefined, `${title} ${path}`)
      t.deepEqual(Object.keys(counted.data), names)
    }
  }
})

test('the landing page counts all collections, and draws those that are opened', async (t) => {
  const { writer, origin } = service()
  await writer.post('/species', { scientific_name: 'Shown at first' })
  for (const [index, mass] of [1, 2, 2, 9].entries()) {
    await writer.post('/spacecraft', { name: `Charted ${index}`, kind: 'rover', dry_mass_kilograms: mass })
  }
  const { body: ship } = await writer.post('/spacecraft', {
    name: 'Crowded',
    kind: 'capsule',
    crew_capacity: 3,
  })
  const { body: mission } = await writer.post('/missions', { name: 'Occupied', spacecraft_id: ship.id })
  for (const name of ['One', 'Two']) {
    const { body: astronaut } = await writer.post('/astronauts', { name })
    await writer.post(`/missions/${mission.id}/crew`, { astronaut_id: astronaut.id, role: 'pilot' })
  }
  for (const name of ['Heavy', 'Heavier']) await writer.post('/planets', { name, mass_jupiters: 1.7e308 })
  await browsing(t, async (page) => {
    await page.goto(`${origin}/`)
    await page.locator('#status').getByText(/ready/).waitFor()
    t.is(await page.locator('canvas').count(), 0)
    await page.getByLabel('Access token').fill(tokenOf(t))
    await page.getByRole('button', { name: 'Use token' }).click()
    await page.getByRole('heading', { name: /^Training records \d/ }).waitFor()
    t.is(await page.locator('details[open]').count(), 1)
    await page.locator('summary', { hasText: 'Spacecraft' }).focus()
    await page.keyboard.press('Enter')
    const region = page.getByRole('region', { name: 'Spacecraft', exact: true })
    await region.getByRole('img', { name: /Kind.*rover: \d/ }).waitFor()
    const mass = region.getByRole('img', { name: /^Dry mass kilograms/ })
    await mass.waitFor()
    t.is(
      await mass.getAttribute('aria-label'),
      'Dry mass kilograms. 1 – 2: 1; 2 – 3: 2; 3 – 4: 0; 4 – 5: 0; 5 – 6: 0; 6 – 7: 0; 7 – 8: 0; 8 – 9: 1',
    )
    await page.locator('summary', { hasText: 'Missions' }).click()
    await page
      .getByRole('img', { name: /^Crew and crew capacity\..*Occupied: Crew 2, Crew capacity 3/ })
      .waitFor()
    await page.locator('summary', { hasText: 'Planets' }).click()
    await page.getByRole('row', { name: 'Mass jupiters 1.7E308 1.7E308 1.7E308' }).waitFor()
  })
})

test('ranges of a histogram hold every value once', async (t) => {
  const { rangesOf } = await import('../../src/pages/browser/histogram.js')
  const number = (isInteger: boolean) => ({ path: ['range', 'low'], isInteger })
  const cases: [boolean, number, number, number[]][] = [
    [true, 1992, 2031, [1992, 1996, 1997, 2031]],
    [true, 0, 3, [0, 1, 2, 3]],
    [true, 7, 7, [7]],
    [false, 0.5, 0.5, [0.5]],
    [false, -10, 10, [-10, -7.5, 0, 9.99, 10]],
    [false, 0.001, 4000, [0.001, 0.002, 1, 3999, 4000]],
    [false, -1.7e308, 1.7e308, [-1.7e308, -1, 1, 1.7e308]],
    [false, 1e-300, 1e300, [1e-300, 1, 1e300]],
  ]
  for (const [isInteger, least, greatest, values] of cases) {
    const { labels, variables } = rangesOf(number(isInteger), least, greatest, 8)
    t.is(Object.keys(variables).length, 8)
    t.true(labels.length <= 8 && new Set(labels).size === labels.length, labels.join())
    for (const value of values) {
      const holding = Object.values(variables).filter(({ range: { low } }: Json) => isWithin(low, value))
      t.is(holding.length, 1, `${value} in ${labels.join()}`)
    }
  }
})

function isWithin(
  { gte = -Infinity, gt = -Infinity, lt = Infinity, lte = Infinity }: Json,
  value: number,
): boolean {
  return value >= gte && value > gt && value < lt && value <= lte
}

test('a call from the reference works with a token', async (t) => {
  const { origin } = service()
  await browsing(t, async (page) => {
    await page.goto(`${origin}/docs`)
    await page.getByRole('button', { name: 'Authorize' }).click()
    await page.locator('.auth-container input').fill(tokenOf(t))
    await page.locator('.auth-container .authorize').click()
    await page.locator('.btn-done').click()
    await page.locator('#operations-planets-listPlanets .opblock-summary-control').click()
    await page.locator('#operations-planets-listPlanets .execute').click()
    const status = page
      .locator('#operations-planets-listPlanets .live-responses-table .response-col_status')
      .last()
    await status.waitFor()
    t.regex((await status.textContent()) ?? '', /^200/)
  })
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds no serious problem on the pages, in the ${colorScheme}, and they fit a phone`, async (t) => {
    const { writer, base, origin } = service()
    const { body } = await writer.post('/species', {
      scientific_name: `Long ${'name '.repeat(40)} ${colorScheme}`,
      classification: { kingdom: 'Animalia' },
      planet_origin: 'Kepler-442b',
    })
    const axe = await readFile(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')
    await browsing(t, async (page) => {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width: 390, height: 844 })
      const paths = [
        base,
        `${base}/species`,
        `${base}/species/${body.id}`,
        `${base}/species/none`,
        `${origin}/${'nowhere'.repeat(40)}`,
        `${origin}/errors`,
        `${origin}/errors/RESOURCE_GONE`,
        `${origin}/model`,
        `${origin}/model#entity-missions`,
        `${origin}/`,
      ]
      for (const url of paths) {
        await page.goto(url)
        await page.locator('h1').waitFor()
        const opener = page.getByRole('button', { name: /^(Create a|Edit)/ })
        if ((await opener.count()) > 0) await opener.first().click()
        await page.waitForLoadState('networkidle')
        const violations = await page.evaluate(
          `${axe}; axe.run().then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes[0].html })))`,
        )
        const serious = (violations as Json[]).filter(
          ({ impact }) => impact === 'serious' || impact === 'critical',
        )
        t.deepEqual(serious, [], url)
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        t.true((overflow as number) <= 0, `${url} is ${overflow} pixels too wide`)
        await page.evaluate(`sessionStorage.setItem('halgraph.token', ${JSON.stringify(tokenOf(t))})`)
      }
    })
  })
}

test('every code of an error and of a detail is in the catalogue, as JSON and as a page', async (t) => {
  const { anonymous, origin } = service()
  const { body } = await anonymous.get(`${origin}/errors`)
  t.true(body.errors.length > 30)
  for (const entry of body.errors) {
    const { body: single } = await anonymous.get(entry.href)
    t.deepEqual(single, entry)
    t.true(entry.cause.length > 10 && entry.remedy.length > 10)
  }
  const page = await anonymous.get(`${origin}/errors/RESOURCE_GONE`, HTML)
  t.regex(page.text, /<h1><code>RESOURCE_GONE<\/code><\/h1>/)
  t.is((await anonymous.get(`${origin}/errors/NO_SUCH_CODE`)).status, 401)
  t.is((await anonymous.post(`${origin}/errors`)).status, 405)
})

test('the profile of a collection tells its schema and its policies', async (t) => {
  const { anonymous, reader, base } = service()
  const { headers } = await reader.get('/species')
  t.is(headers.get('link'), `<${base}/profile/species>; rel="describedby"`)
  const { body } = await anonymous.get('/profile/species')
  t.deepEqual(body.input.required, ['scientific_name'])
  t.is(body.policies.paging.maximum_limit, 100)
  t.is(body.policies.create.put.without_it, 404)
  t.is(body.policies.preconditions.if_match.mismatch, 409)
  t.is((await anonymous.get('/profile/unheard-of')).status, 401)
})

function tokenOf(_: ExecutionContext): string {
  return service().writer.authorization?.replace('Bearer ', '') as string
}

/** Runs in a page of a new browser. Anything the page asks of another origin, or throws, is a failure. */
async function browsing(t: ExecutionContext, use: (page: Page) => Promise<void>): Promise<void> {
  const browser = await openBrowser(t)
  if (!browser) return void t.pass()
  const page = await (await browser.newContext()).newPage()
  page.on('pageerror', (error) => void t.fail(String(error)))
  page.on('dialog', () => void t.fail('a dialog was opened'))
  page.on('request', (request) => {
    if (!request.url().startsWith(service().origin) && !request.url().startsWith('data:'))
      t.fail(request.url())
  })
  await use(page)
}
