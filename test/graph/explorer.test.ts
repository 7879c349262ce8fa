import anyTest, { type TestFn } from 'ava'
import type { Page } from 'playwright-core'
import { openBrowser } from '../helpers/browser.ts'
import { shareTestService, startTestService } from '../helpers/service.ts'

const test = anyTest as TestFn
const service = shareTestService(test)

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('a browser gets the explorer without a token, and it loads nothing from third parties', async (t) => {
  const { anonymous, origin } = service()
  const page = await anonymous.get(`${origin}/graphql`, HTML)
  t.is(page.status, 200)
  t.regex(page.headers.get('content-type') ?? '', /^text\/html/)
  t.regex(page.headers.get('content-security-policy') ?? '', /default-src 'none'; script-src 'self';/)
  const addresses = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address as string)
  t.true(addresses.every((address) => new URL(address, origin).origin === origin || address === 'data:,'))
  const files = addresses.filter((one) => /^(docs\/assets|graphql\/explorer)\//.test(one))
  t.true(files.length >= 6)
  for (const address of files) {
    const file = await anonymous.get(`${origin}/${address}`)
    t.is(file.status, 200, address)
    const again = await anonymous.get(`${origin}/${address}`, {
      'if-none-match': file.headers.get('etag') as string,
    })
    t.is(again.status, 304, address)
  }
})

test('other clients than browsers get no page', async (t) => {
  const { anonymous, origin } = service()
  const answer = await anonymous.get(`${origin}/graphql`)
  t.is(answer.status, 401)
  t.is(answer.headers.get('www-authenticate'), 'Bearer')
  t.is(answer.body.errors[0].extensions.code, 'AUTHENTICATION_REQUIRED')
})

test('every example fits the schema', async (t) => {
  const { anonymous, reader, origin } = service()
  const { body } = await anonymous.get(`${origin}/graphql/explorer/examples.json`)
  t.true(body.length > 5)
  for (const { title, document } of body) {
    const { errors } = await reader.graphql(document)
    const isAboutVariables = errors?.every(({ message }) => /^Variable "\$/.test(message))
    t.true(errors === undefined || isAboutVariables, `${title}: ${JSON.stringify(errors)}`)
  }
})

test('without the setting there is no explorer', async (t) => {
  const { anonymous, origin } = await startTestService(t, { graphqlExplorer: false })
  t.is((await anonymous.get(`${origin}/graphql`, HTML)).status, 401)
  t.is((await anonymous.get(`${origin}/graphql/explorer/explorer.js`)).status, 401)
})

for (const [device, width, height] of [
  ['a desktop', 1280, 800],
  ['a phone', 390, 844],
] as const) {
  test(`on ${device}, a token and an example can be entered and run, without third parties`, async (t) => {
    const browser = await openBrowser(t)
    if (!browser) return t.pass()
    const { writer, origin } = service()
    const name = `Explorata ${width}`
    await writer.post('/species', { scientific_name: name })
    const page = await browser.newPage({ viewport: { width, height } })
    const outside = watchOutside(page, origin)
    const problems = watchProblems(page)

    await page.goto(`${origin}/graphql`)
    await page.getByText('Paste an access token above').waitFor()
    await page.fill('#token', writer.authorization as string)
    await page.click('#token-form button')
    await page.getByText('Paste an access token above').waitFor({ state: 'detached' })
    await page.selectOption('#examples', { label: 'The newest species' })
    await page.click('.graphiql-execute-button')
    await page.locator('.result-window', { hasText: name }).waitFor()
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
  })
}

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
