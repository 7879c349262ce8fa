// Grids and admin kits: each program of docs/clients/pages shows planets in a page of another origin, one at a time.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { chromium } from 'playwright-core'
import { listen, origin, run, token } from './service.mjs'

const executablePath = process.env.BROWSER_PATH ?? '/usr/bin/chromium'

/** By package: its program, and what leads to the second page. AG Grid shows both. */
const pages = {
  'react-admin': ['react-admin', 'Go to next page'],
  '@refinedev/core': ['refine', 'Next'],
  'tabulator-tables': ['tabulator', 'Next Page'],
  'datatables.net': ['datatables', 'Next'],
  'ag-grid-community': ['ag-grid'],
  gridjs: ['gridjs', 'Next'],
}

export async function show(name) {
  const [program, next] = pages[name]
  const options = [
    '--bundle',
    '--jsx=automatic',
    '--log-level=error',
    '--define:process.env.NODE_ENV="production"',
  ]
  run('esbuild', `pages/${program}.jsx`, ...options, '--outfile=page.js')
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const page = await browser.newPage()
  const failures = []
  page.on('pageerror', (error) => failures.push(error.stack))
  page.on('dialog', (dialog) => failures.push(dialog.message()) && dialog.dismiss())
  await page.addInitScript((service) => Object.assign(globalThis, service), {
    base: `${origin}/api/v1`,
    token,
  })
  const body = '<!doctype html><div id="root" style="height: 400px"></div>'
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(body))
  await page.goto(await listen(server))
  await page.addScriptTag({ path: 'page.js' })
  await page.getByText('Client, b').waitFor()
  if (next) await page.getByLabel(next).or(page.getByText(next)).click()
  await page.getByText('Client, a').waitFor()
  if (program === 'react-admin' || program === 'refine') {
    const method = `Method ${Date.now()}`
    await page.getByText('Client, a').click()
    await page.getByLabel('Discovery method').fill(method)
    const changed = page.waitForResponse((response) => /PUT|PATCH/.test(response.request().method()))
    await page.getByRole('button', { name: 'Save' }).click()
    const answer = await changed
    assert.ok(answer.request().headers()['if-match'])
    assert.equal((await answer.json()).discovery_method, method)
    await page.getByText('Client, a').waitFor()
  }
  assert.deepEqual(failures, [])
  await browser.close()
}
