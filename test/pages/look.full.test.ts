import test, { type ExecutionContext } from 'ava'
import type { Locator, Page } from 'playwright-core'
import { openPage } from '../helpers/service/browser.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'

// What only eyes tell apart, and so no outline of a page.

const service = shareTestService(test)

async function openAsWriter(t: ExecutionContext): Promise<Page | undefined> {
  const page = await openPage(t)
  const token = service().writer.authorization?.replace('Bearer ', '')
  await page?.addInitScript(`sessionStorage.setItem('halgraph.token', ${JSON.stringify(token)})`)
  return page
}

/** Of the browser. */
declare const getComputedStyle: (element: unknown) => { getPropertyValue(name: string): string }

const style = (locator: Locator, property: string) =>
  locator.evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property)

test('the status of a failure has another colour than that of a success, on a page and in the reference', async (t) => {
  const page = await openAsWriter(t)
  if (!page) return t.pass()
  const { base, origin } = service()
  const colourOf = (status: string) => style(page.locator('.status', { hasText: status }), 'color')
  await page.goto(`${base}/planets`)
  const [good, text] = [await colourOf('200'), await style(page.locator('body'), 'color')]
  await page.goto(`${base}/planets?limit=none`)
  const bad = await colourOf('400')
  t.is(new Set([good, bad, text]).size, 3)
  await page.goto(`${origin}/docs#listPlanets`)
  const form = page.locator('#listPlanets form')
  const send = () => form.getByRole('button', { name: 'Send' }).click()
  await send()
  t.is(await colourOf('200'), good)
  await form.getByLabel('limit', { exact: true }).fill('none')
  await send()
  t.is(await colourOf('400'), bad)
})

test('the button that opens a form is the main one until the form is open', async (t) => {
  const page = await openAsWriter(t)
  if (!page) return t.pass()
  const { writer, base } = service()
  await writer.put('/planets/emphasized', { id: 'emphasized', name: 'Emphasized' })
  for (const [path, opener] of [
    ['/planets', 'Create a planet'],
    ['/planets/emphasized', 'Edit'],
  ] as const) {
    await page.goto(base + path)
    const button = page.getByRole('button', { name: opener, exact: true })
    const background = () => style(button, 'background-color')
    const former = await background()
    await button.click()
    const submit = page.locator('form.template button[type=submit]')
    await submit.waitFor()
    t.is(await style(submit, 'background-color'), former, path)
    t.not(await background(), former, path)
  }
})

test('on a phone the head is one line, with a menu that opens and closes by keyboard', async (t) => {
  const page = await openAsWriter(t)
  if (!page) return t.pass()
  await page.setViewportSize({ width: 390, height: 800 })
  await page.goto(service().base)
  const menu = page.locator('header .menu summary')
  const token = page.locator('header summary', { hasText: /^Token/ })
  const [name, own, other] = await Promise.all(
    [page.locator('header .name'), menu, token].map((one) => one.boundingBox()),
  )
  for (const box of [own, other])
    t.true(Math.abs((box?.y ?? 0) - (name?.y ?? 0)) < (name?.height ?? 0), 'beside the name')
  const link = page.locator('header').getByRole('link', { name: 'Reference' })
  t.is(await link.count(), 0)
  await menu.focus()
  await page.keyboard.press('Enter')
  await page.locator('header').getByRole('link', { name: 'Browse' }).waitFor()
  t.is(await link.count(), 1)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Escape')
  await page.locator('header .menu summary:focus').waitFor()
  t.is(await link.count(), 0)
})

test('why somebody has to sign in is said in the head, and covers nothing of the page', async (t) => {
  const page = await openPage(t)
  if (!page) return t.pass()
  const { base, faults } = await startTestService(t, {
    oidcIssuer: 'http://127.0.0.1:9',
    oidcClientId: 'pages',
  })
  await page.goto(`${base}/planets`)
  const reason = page.locator('header').getByText('Sign in to see this page.')
  await reason.waitFor()
  const [text, main] = await Promise.all([reason.boundingBox(), page.locator('main').boundingBox()])
  t.true((text?.y ?? 0) + (text?.height ?? 0) <= (main?.y ?? 0))
  t.regex(String(faults.splice(0)), /OIDC_ISSUER/)
})
