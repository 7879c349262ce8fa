import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import type { Owner } from '../database/database.ts'
import { freePort } from '../process/free-port.ts'
import { openPage } from './browser.ts'

/**
 * Runs `studio` and opens the page that it names in a browser, without the network; both are gone at teardown. Undefined
 * where there is no browser, with the reason printed.
 */
export async function openStudio(
  owner: Owner & { log(text: string): void },
  environment: NodeJS.ProcessEnv,
): Promise<Page | undefined> {
  // Its table holds in the page only the columns that can be seen.
  const page = await openPage(owner, { viewport: { width: 3600, height: 800 } })
  if (!page) return undefined
  const address = await startStudio(owner, environment)
  const { origin } = new URL(address)
  await page.route('**/*', (route) =>
    route.request().url().startsWith(origin) ? route.continue() : route.abort(),
  )
  await page.goto(address)
  return page
}

async function startStudio(owner: Owner, environment: NodeJS.ProcessEnv): Promise<string> {
  const entry = fileURLToPath(new URL('../../../bin/halgraph.js', import.meta.url))
  const studio = spawn(process.execPath, [entry, 'studio', '--port', String(await freePort())], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], ...environment },
  })
  owner.teardown(async () => {
    studio.kill('SIGTERM')
    if (studio.exitCode === null) await once(studio, 'exit')
  })
  for await (const line of createInterface(studio.stdout)) {
    const [address] = /http:\S+/.exec(line) ?? []
    if (address) return address
  }
  throw new Error('Studio printed no address')
}

/** The words of a page. */
export async function wordsOf(page: Page): Promise<string[]> {
  return (await page.locator('body').innerText()).split(/\s+/)
}
