import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import type { Owner } from '../database/database.ts'

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

/**
 * A browser of the owner's own, closed at teardown: the Chromium of BROWSER_PATH or of the usual places.
 * Undefined where there is none, with the reason printed; the test then has to pass without one.
 */
export async function openBrowser(owner: Owner & { log(text: string): void }): Promise<Browser | undefined> {
  const executablePath = process.env['BROWSER_PATH'] ?? CANDIDATES.find((path) => existsSync(path))
  if (executablePath === undefined) {
    owner.log(`Skipped: no browser at ${CANDIDATES.join(', ')}; BROWSER_PATH may name another one.`)
    return undefined
  }
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS })
  owner.teardown(() => browser.close())
  browser.on('context', (context) => context.setDefaultTimeout(TIMEOUT_MILLISECONDS))
  return browser
}
