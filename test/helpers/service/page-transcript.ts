import type { ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { pageOutline } from './page-outline.ts'
import type { TestService } from './service.ts'
import { claimResults, clientOf, GENERATED, withoutChance } from './transcript.ts'

/** So long nothing may change before a page counts as complete. */
const STILL_MILLISECONDS = 400
const LONGEST_MILLISECONDS = 30_000

/**
 * Claims that the page shows what a file says after each group of its actions: the outline of `main`.
 *
 * The actions: `as <client>` (whose token the next pages have), `open <path>`, `reload`, `click <role> <name>`,
 * `fill <label>: <text>`, `choose <label>: <option>`, `press <key>`, `unfold <selector>` (opens all details in it),
 * `send <method> <path> <body>` (a request of the writer beside the page), `repeat <count> <method> <path> <body>` (so many
 * requests, with the number of each in the place of #), and `show <selector>`, which narrows what is shown
 * in this group.
 */
export async function claimPages(
  t: ExecutionContext,
  page: Page,
  service: TestService,
  file: string,
): Promise<void> {
  await storeToken(page, service, 'writer')
  const linesOf = (outline: string) => outline.split('\n').map((line) => plain(line, service.origin))
  await claimResults(t, file, async (actions, isExpected) => {
    let shown = 'main'
    for (const action of actions) {
      const [, verb = '', rest = ''] = /^(\w+) ?(.*)$/.exec(action) ?? []
      if (verb === 'show') shown = rest
      else await act(page, service, verb, rest)
    }
    return linesOf(await settled(page, shown, (outline) => isExpected(linesOf(outline))))
  })
}

async function act(page: Page, service: TestService, verb: string, rest: string): Promise<void> {
  const [, name = '', value = ''] = /^(.*?)(?:: ?(.*))?$/.exec(rest) ?? []
  switch (verb) {
    case 'as':
      return storeToken(page, service, rest)
    case 'open':
      // A fragment alone would not load the page again.
      await page.goto('about:blank')
      return void (await page.goto(service.origin + rest))
    case 'reload':
      // What is clicked loads a page a moment later.
      await settled(page, 'main')
      return void (await page.reload())
    case 'click': {
      const [, role = '', accessible = ''] = /^(\w+) (.*)$/.exec(rest) ?? []
      return page
        .getByRole(role as 'button', { name: accessible, exact: true })
        .first()
        .click()
    }
    case 'fill':
      // A form that has just appeared moves the focus a moment later.
      await settled(page, 'main')
      return page.getByLabel(name).first().fill(value.replaceAll('\\n', '\n'))
    case 'choose':
      return void (await page.getByLabel(name).first().selectOption({ label: value }))
    case 'press':
      // What is typed is searched for a moment later.
      await settled(page, 'main')
      return page.keyboard.press(rest)
    case 'unfold': {
      const selector = rest || 'main'
      await settled(page, selector)
      const unfold = `for (const one of document.querySelectorAll('${selector} details')) one.open = true`
      return void (await page.evaluate(unfold))
    }
    case 'send':
      return send(service, rest)
    case 'repeat': {
      const [, count, request = ''] = /^(\d+) (.*)$/.exec(rest) ?? []
      for (let number = 1; number <= Number(count); number++)
        await send(service, request.replaceAll('#', String(number)))
      return
    }
    default:
      throw new Error(`No action has the name ${verb}.`)
  }
}

async function send(service: TestService, request: string): Promise<void> {
  const [method = '', path = '', ...body] = request.split(' ')
  const { status, text } = await service.writer.request(
    method,
    service.origin + path,
    body.join(' ') || undefined,
  )
  if (status >= 400) throw new Error(`${request} failed: ${text}`)
}

/** As the token form of the pages stores it. */
async function storeToken(page: Page, service: TestService, client: string): Promise<void> {
  const token = clientOf(service, client).authorization?.replace('Bearer ', '') ?? ''
  await page.goto(`${service.origin}/health/live`)
  await page.evaluate(`sessionStorage.setItem('halgraph.token', ${JSON.stringify(token)})`)
}

/** What is shown, once it has stopped changing and is what was expected, or after a time that a busy machine may need. */
async function settled(page: Page, selector: string, isExpected = (_: string) => true): Promise<string> {
  await page.locator(selector).first().waitFor({ state: 'attached' })
  const latest = Date.now() + LONGEST_MILLISECONDS
  for (let before = ''; ; await page.waitForTimeout(STILL_MILLISECONDS)) {
    const now = await pageOutline(page, selector).catch((error) => {
      // A page that is being left has none.
      if (Date.now() > latest) throw error
      return ''
    })
    const isStill = now !== '' && now === before && !now.includes('Loading…')
    if (Date.now() > latest || (isStill && isExpected(now))) return now
    before = now
  }
}

/** As people read it, in UTC. */
const SHOWN_TIME = /\d{1,2} [A-Z][a-z]{2,3} \d{4}, \d\d:\d\d(?::\d\d)? UTC/g
const DAY_MILLISECONDS = 86_400_000

function plain(line: string, origin: string): string {
  const isNow = (time: string) => Math.abs(Date.parse(time) - Date.now()) < DAY_MILLISECONDS
  return withoutChance(line)
    .replaceAll(encodeURIComponent(origin), 'http%3A%2F%2Fhost')
    .replaceAll(new URL(origin).host, 'host')
    .replaceAll(GENERATED, '(uuid)')
    .replace(/Expires .* GMT/, 'Expires (later)')
    .replaceAll(SHOWN_TIME, (time) => (isNow(time.replace('Sept', 'Sep')) ? '(now)' : time))
    .replaceAll(new Date().toISOString().slice(0, 7), '(month)')
}
