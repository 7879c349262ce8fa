import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { readSettings } from '../../src/service/settings/settings.ts'
import { domain } from '../helpers/domain/domain.ts'
import { freePort } from '../helpers/process/free-port.ts'
import { until } from '../helpers/process/until.ts'
import { openPage } from '../helpers/service/browser.ts'
import type { Json } from '../helpers/service/client.ts'
import { startProvider } from '../helpers/service/openid-provider.ts'
import { startTestService } from '../helpers/service/service.ts'
import { listen } from '../helpers/service/tokens.ts'

// Chromium, oidc-provider and the service, each at an origin of its own.

async function start(t: ExecutionContext, others: NodeJS.ProcessEnv = {}, isDown = false) {
  const page = await openPage(t)
  if (!page) return undefined
  const port = await freePort()
  const provider = await startProvider(t, `http://127.0.0.1:${port}/`)
  provider.state.isDown = isDown
  const read = readSettings({ ...provider.settings, ...others }, [], domain)
  const { jwt, jwtIssuer, jwtAudience, scopesClaim, scopesMap, jwtLeewaySeconds } = read
  const { oidcIssuer, oidcClientId, oidcScopes, oidcAudience } = read
  const tokens = { jwt, jwtIssuer, jwtAudience, scopesClaim, scopesMap, jwtLeewaySeconds } as never
  const overrides = { port, oidcIssuer, oidcClientId, oidcScopes, oidcAudience }
  const service = await startTestService(t, overrides, { tokens })
  page.context().on('weberror', (error) => {
    t.fail(String(error.error()))
  })
  return { page, provider, service }
}

const NAMES = {
  ada: 'Ada of the catalogue',
  grace: 'Grace of the catalogue',
}
type Person = keyof typeof NAMES

/** Signs in at the provider, as a person does. */
async function signIn(page: Page, person: Person = 'ada'): Promise<void> {
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByPlaceholder('Enter any login').fill(person)
  await page.getByPlaceholder('and password').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await signedIn(page, person)
}

const signedIn = (page: Page, person: Person = 'ada') =>
  page.locator('summary', { hasText: NAMES[person] }).waitFor()
const signedOut = (page: Page) => page.getByRole('button', { name: 'Sign in' }).waitFor()

/** All that the browser keeps for the origin of a page, beside the memory of its scripts. */
const STORED = `(async () => JSON.stringify([
  Object.fromEntries(Object.entries(sessionStorage).filter(([name]) => !name.startsWith('graphiql:'))), {...localStorage}, document.cookie, await indexedDB.databases(), await caches.keys(), window.name]))()`

test('a person signs in, returns to the page of before, uses pages, explorer and reference, and no token is stored', async (t) => {
  const started = await start(t)
  if (!started) return t.pass()
  const { page, service, provider } = started
  const list = `${service.base}/planets?sort=name:asc#list`
  const response = await page.goto(list)
  const policy = response?.headers()['content-security-policy'] ?? ''
  t.regex(
    policy,
    new RegExp(`^default-src 'none'; script-src 'self'; .*connect-src 'self' ${provider.issuer};`),
  )
  await page.getByRole('alert').getByText('Sign in above to see this page.').waitFor()
  t.is(await page.getByText('npx halgraph token').count(), 0)
  await signIn(page)
  t.is(page.url(), list)
  const stored = async () => {
    const [{ access_token, refresh_token, id_token }] = provider.state.tokens as [Json]
    const kept = await page.evaluate<string>(`${STORED} + JSON.stringify(sessionStorage)`)
    for (const token of [access_token, refresh_token, id_token]) t.false(token === '' || kept.includes(token))
    t.notRegex(kept, /eyJ/)
  }
  await stored()
  await page.getByRole('button', { name: 'Create the first planet' }).click()
  await page.getByLabel('Name').first().fill('Signed')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { name: 'Signed' }).waitFor()

  await page.locator('header nav').getByRole('link', { name: 'Browse', exact: true }).click()
  await page.getByRole('heading', { name: 'Collections' }).waitFor()
  await page.getByRole('link', { name: 'Planets', exact: true }).click()
  await page.getByRole('link', { name: 'Signed' }).waitFor()
  await page.reload()
  await page.getByRole('link', { name: 'Signed' }).waitFor()
  await signedIn(page)
  t.deepEqual(provider.state.grants, ['authorization_code success'], 'pages share the session')
  await page.goBack()
  await page.getByRole('heading', { name: 'Collections' }).waitFor()
  await signedIn(page)

  await page.goto(`${service.origin}/graphql`)
  await page.selectOption('#examples', { label: 'The newest planets' })
  await page.click('.graphiql-execute-button')
  await page.locator('.result-window', { hasText: 'Signed' }).waitFor()
  await stored()
  await page.goto(`${service.origin}/docs#listPlanets`)
  await page.getByRole('button', { name: 'Send' }).first().click()
  await page.getByText('"Signed"').first().waitFor()
  t.deepEqual(provider.state.grants, ['authorization_code success'])

  await page.locator('summary', { hasText: NAMES.ada }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: /sign me out/i }).click()
  await signedOut(page)
  t.is(page.url(), `${service.origin}/`)
  await page.goto(list)
  await page.getByRole('alert').getByText('Sign in above').waitFor()
  t.is(await page.evaluate<string>(STORED), '[{},{},"",[],[],""]')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByPlaceholder('Enter any login').waitFor()
})

test('roles decide what a person may do, and the page says so', async (t) => {
  const started = await start(t)
  if (!started) return t.pass()
  const { page, service } = started
  await page.goto(`${service.base}/planets`)
  await signIn(page, 'grace')
  const refusal = 'Your account does not permit creating anything here.'
  await page.getByText(refusal).waitFor()
  t.pass()
})

test('tabs share a session, also a new one, and signing out in one ends it in all', async (t) => {
  const started = await start(t)
  if (!started) return t.pass()
  const { page, service, provider } = started
  const list = `${service.base}/planets`
  const waiting = await page.context().newPage()
  await waiting.goto(list)
  await waiting.getByRole('alert').getByText('Sign in above').waitFor()
  await page.goto(list)
  await signIn(page)
  await waiting.getByRole('button', { name: 'Create the first planet' }).waitFor()
  const later = await page.context().newPage()
  await later.goto(list)
  await signedIn(later)
  t.deepEqual(provider.state.grants, ['authorization_code success'])
  await stopWorkers(page)
  const last = await page.context().newPage()
  await last.goto(list)
  await signedIn(last)
  t.deepEqual(provider.state.grants, ['authorization_code success'], 'another tab has the session')

  await later.locator('summary', { hasText: NAMES.ada }).click()
  await later.getByRole('button', { name: 'Sign out' }).click()
  for (const tab of [page, waiting, last]) {
    await signedOut(tab)
    await tab.goto(list)
    await tab.getByRole('alert').getByText('Sign in above').waitFor()
  }
})

test('a tab whose session is lost has a new one without a question, unless the person has signed out', async (t) => {
  const started = await start(t)
  if (!started) return t.pass()
  const { page, service, provider } = started
  await page.goto(`${service.base}/planets`)
  await signIn(page)
  // A page that is left may tell the worker late, which then starts again.
  await until(async () => {
    await page.goto('about:blank')
    await stopWorkers(page)
    await page.goto(`${service.base}/moons`)
    await signedIn(page)
    return provider.state.grants.length > 1
  })
  t.is(page.url(), `${service.base}/moons`)
  t.deepEqual(provider.state.grants, ['authorization_code success', 'authorization_code success'])

  await page.context().clearCookies()
  const refusal = page.getByRole('alert').getByText('Sign in above')
  await until(async () => {
    await page.goto('about:blank')
    await stopWorkers(page)
    await page.goto(`${service.base}/moons`)
    await refusal
      .or(page.locator('summary', { hasText: NAMES.ada }))
      .first()
      .waitFor()
    return refusal.isVisible()
  })
  t.is(page.url(), `${service.base}/moons`, 'the provider would have asked')
  t.is(await page.evaluate<string>(STORED), '[{},{},"",[],[],""]')
})

test('an expired token is renewed once for all tabs, and an ended session leaves the page as it is', async (t) => {
  const started = await start(t)
  if (!started) return t.pass()
  const { page, service, provider } = started
  await page.goto(`${service.base}/planets`)
  await signIn(page)
  const other = await page.context().newPage()
  await other.goto(`${service.base}/planets`)
  await signedIn(other)
  // A token of less than a second is not renewed.
  const expire = `import('/docs/assets/sign-in.js').then(({ current }) => {
    current().until = 0
    return new Promise((resolve) => setTimeout(resolve, current().at + 1_100 - Date.now()))
  })`
  const ask = `Promise.all([1, 2, 3].map(() => import('/docs/assets/session.js').then(({ send }) =>
    send('/api/v1/planets').then(({ status }) => status))))`
  for (const tab of [page, other]) await tab.evaluate(expire)
  const answers = await Promise.all([page, other].map((tab) => tab.evaluate<number[]>(ask)))
  t.deepEqual(answers.flat(), [200, 200, 200, 200, 200, 200])
  t.deepEqual(provider.state.grants, ['authorization_code success', 'refresh_token success'])

  await page.getByRole('button', { name: 'Create the first planet' }).click()
  await page.getByLabel('Name').first().fill('Kept')
  const { issuer, state } = provider
  const body = new URLSearchParams({ client_id: 'pages', token: state.tokens.at(-1)?.refresh_token })
  t.is((await fetch(`${issuer}/token/revocation`, { method: 'POST', body })).status, 200)
  await page.evaluate(expire)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByText('You are signed out. Sign in in another tab of this service').waitFor()
  await signedOut(other)
  t.is(provider.state.grants.at(-1), 'refresh_token error')
  // The provider knows the person, and does not ask.
  await other.getByRole('button', { name: 'Sign in' }).click()
  await signedIn(other)
  await signedIn(page)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { name: 'Kept' }).waitFor()
})

test('while the provider is down, the service starts, known tokens work, and pages say why nobody can sign in', async (t) => {
  const started = await start(t, { JWT_LEEWAY_SECONDS: '0' }, true)
  if (!started) return t.pass()
  const { page, service, provider } = started
  const list = `${service.base}/planets`
  t.is((await fetch(`${service.origin}/health/ready`)).status, 200)
  await page.goto(list)
  const press = () => page.getByRole('button', { name: 'Sign in' }).click()
  await press()
  await page.getByText('The sign-in service does not respond. Reload this page in a moment.').waitFor()
  for (const { message } of service.faults.splice(0))
    t.regex(message, /^OIDC_ISSUER: cannot read the metadata at http/)

  provider.state.isDown = false
  const isKnown = async () =>
    (await (await page.goto(list))?.text())?.includes('authorization_endpoint') === true
  await until(isKnown)
  provider.state.isDown = true
  await press()
  await page.getByText('The sign-in service does not respond. Try again in a moment.').waitFor()
  t.is(page.url(), list)
  provider.state.isDown = false
  provider.state.accessTokenSeconds = 40
  await signIn(page)
  await page.getByText('There is nothing here yet.').waitFor()

  provider.state.isDown = true
  // The token expires, and cannot be renewed.
  const expired = Date.now() + 41_000
  await until(() => Date.now() > expired)
  await page.reload()
  await page.getByText('The sign-in service does not respond.').waitFor()
  await page.getByText('The token has expired.', { exact: true }).waitFor()
  provider.state.isDown = false
  await page.reload()
  await page.getByText('There is nothing here yet.').waitFor()
  await signedIn(page)

  provider.state.isDown = true
  await page.locator('summary', { hasText: NAMES.ada }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await signedOut(page)
  t.is(await page.evaluate<string>(STORED), '[{},{},"",[],[],""]')
  t.deepEqual(service.faults.splice(0), [])
})

test('a token for another audience is refused, and the page says so', async (t) => {
  const started = await start(t)
  if (!started) return t.pass()
  const { page, service, provider } = started
  provider.state.audience = 'https://example.org/other'
  await page.goto(`${service.base}/planets`)
  await signIn(page)
  await page.getByRole('alert').getByText('The token is for a different audience.').waitFor()
  t.deepEqual(provider.state.grants, ['authorization_code success'])
})

test('a page of another origin cannot use the session, nor begin one', async (t) => {
  const started = await start(t)
  if (!started) return t.pass()
  const { page, service, provider } = started
  await page.goto(`${service.base}/planets`)
  await signIn(page)
  const other = await listen(t, (_, response) => {
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Other</title>')
  })
  const stranger = await page.context().newPage()
  await stranger.goto(other)
  const found = await stranger.evaluate<Record<string, unknown>>(`(${STRANGER})('${service.origin}')`)
  t.deepEqual(found, {
    status: 401,
    cookies: 401,
    heard: [],
    frame: 'unreadable',
    opened: 'unreadable',
    worker: 'refused',
  })
  await signedIn(page)
  // A code of someone else's, which would sign the person in as them.
  await stranger.goto(`${service.origin}/?code=stolen&state=guessed`)
  await signedIn(stranger)
  t.is(stranger.url(), `${service.origin}/`)
  t.deepEqual(provider.state.grants, ['authorization_code success'])
})

/** What the script of another origin can do with the service, and with its pages in a frame and in a window. */
const STRANGER = `async (service) => {
  const heard = []
  const channel = new BroadcastChannel('halgraph.session')
  channel.onmessage = ({ data }) => heard.push(data)
  channel.postMessage({ ask: true })
  addEventListener('message', ({ data }) => heard.push(data))
  const api = service + '/api/v1/planets'
  const status = (await fetch(api)).status
  const cookies = await fetch(api, { credentials: 'include' }).then(({ status }) => status, () => 401)
  const look = (at) => { try { return at.document.title || 'unreadable' } catch { return 'unreadable' } }
  const frame = document.body.appendChild(document.createElement('iframe'))
  const loaded = new Promise((resolve) => frame.onload = resolve)
  frame.src = api
  await loaded
  frame.contentWindow.postMessage({ ask: true }, '*')
  const opened = open(api)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const worker = await navigator.serviceWorker.register(service + '/docs/assets/session-worker.js')
    .then(() => 'registered', () => 'refused')
  const result = { status, cookies, heard, frame: look(frame.contentWindow), opened: opened ? look(opened) : 'unreadable', worker }
  opened?.close()
  return result
}`

/** Ends the workers of the browser, as it does itself half a minute after their last message. */
async function stopWorkers(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('ServiceWorker.enable')
  await session.send('ServiceWorker.stopAllWorkers')
  await session.detach()
}
