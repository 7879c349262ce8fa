import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { Owner } from '../database/database.ts'
import { createTurns } from '../process/turns.ts'

const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Nothing that the browser does on its own reaches out: what a page loads is what the test sees. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** What takes a second on an idle machine takes far longer on a busy one. */
const TIMEOUT_MILLISECONDS = 120_000

/** Tests of a process that may have pages at the same time. Each page takes a processor. */
const takePage = createTurns(2)

/** The browser of this process, open while a test uses it or waits for it. */
let browser: Promise<Browser> | undefined
let owners = 0

/**
 * A page that shares nothing with others, in the Chromium of BROWSER_PATH or of the usual places; closed at teardown.
 * Undefined where there is none, with the reason printed; the test then has to pass without one.
 */
export async function openPage(
  owner: Owner & { log(text: string): void },
  options: BrowserContextOptions = {},
): Promise<Page | undefined> {
  const executablePath = process.env['BROWSER_PATH'] ?? CANDIDATES.find((path) => existsSync(path))
  if (executablePath === undefined) {
    owner.log(`Skipped: no browser at ${CANDIDATES.join(', ')}; BROWSER_PATH may name another one.`)
    return undefined
  }
  owners++
  owner.teardown(async () => {
    if (--owners > 0) return
    const unused = browser
    browser = undefined
    await (await unused)?.close()
  })
  await takePage(owner)
  browser ??= chromium.launch({ executablePath, args: ARGUMENTS })
  const context = await (await browser).newContext(options)
  owner.teardown(() => context.close())
  context.setDefaultTimeout(TIMEOUT_MILLISECONDS)
  return context.newPage()
}
