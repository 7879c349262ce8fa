import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { createTestFolder, type Owner } from '../helpers/database/database.ts'
import { makeDomain } from '../helpers/domain/made-domain.ts'
import { openPage } from '../helpers/service/browser.ts'
import { runCommand } from '../helpers/service/commands.ts'
import { PROCESS_TOKEN, startProcess } from '../helpers/service/service-process.ts'

/** A picture of a page. */
interface Screenshot {
  /** The name of the file, without its folder. */
  readonly file: string
  readonly path: string
  readonly size?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
  /** What is done on the page before. */
  readonly prepare?: (page: Page) => Promise<void>
}

const WIDE = { width: 1200, height: 750 }
const TALL = { width: 1200, height: 1100 }
const PHONE = { width: 390, height: 780 }
const SPECIES = '/api/v1/species?sort=scientific_name:asc'

const edit = (page: Page) => page.getByRole('button', { name: 'Edit' }).click()

const SCREENSHOTS: readonly Screenshot[] = [
  { file: 'landing.png', path: '/', size: TALL },
  { file: 'landing-dark.png', path: '/', size: TALL, colorScheme: 'dark' },
  { file: 'landing-phone.png', path: '/', size: PHONE },
  { file: 'list.png', path: SPECIES },
  { file: 'list-phone.png', path: SPECIES, size: PHONE, colorScheme: 'dark' },
  { file: 'edit.png', path: '/api/v1/planets/europa-prime', prepare: edit },
  { file: 'reference.png', path: '/docs#readSpecies', size: TALL },
]

/** Of the definition that README.md shows. */
const OF_DEFINITION: readonly Screenshot[] = [
  { file: 'definition.png', path: '/api/v1/books?sort=title:asc', size: { width: 1200, height: 620 } },
]

const [folder = fileURLToPath(new URL('../../docs/images', import.meta.url))] = process.argv.slice(2)
const releases: (() => Promise<void>)[] = []
const owner = { teardown: (release: () => Promise<void>) => void releases.push(release), log: console.error }

try {
  const { path } = await makeDomain(owner, 'bookshelf')
  const isTaken =
    (await takeAll(await startService(owner), SCREENSHOTS)) &&
    (await takeAll(await startService(owner, { DOMAIN: path, MIGRATE_ON_START: 'true' }), OF_DEFINITION))
  if (!isTaken) process.exitCode = 1
} finally {
  for (const release of releases.reverse()) await release()
}

/** Starts the service with the examples of its domain in a new embedded database; resolves to its origin. */
async function startService(owner: Owner, domain: NodeJS.ProcessEnv = {}): Promise<string> {
  const environment = { ...domain, DATA_DIR: await createTestFolder(owner) }
  const origin = await startProcess(environment, owner).origin
  const { status, errors } = await runCommand('seed', environment)
  if (status !== 0) throw new Error(errors)
  return origin
}

async function takeAll(origin: string, screenshots: readonly Screenshot[]): Promise<boolean> {
  await mkdir(folder, { recursive: true })
  for (const screenshot of screenshots) {
    if (!(await take(origin, screenshot))) return false
    console.log(join(folder, screenshot.file))
  }
  return true
}

/** Resolves to false where there is no browser. */
async function take(
  origin: string,
  { file, path, size = WIDE, colorScheme = 'light', prepare }: Screenshot,
): Promise<boolean> {
  const appearance = { colorScheme, reducedMotion: 'reduce', locale: 'en-GB' } as const
  const page = await openPage(owner, { viewport: size, ...appearance })
  if (!page) return false
  // As the token form of the pages stores it.
  await page.addInitScript(`sessionStorage.setItem('halgraph.token', '${PROCESS_TOKEN}')`)
  // With a stream, the network is never idle.
  await page.route('**/changes?*', (route) => route.abort())
  await page.goto(origin + path, { waitUntil: 'networkidle' })
  await page.getByText('Loading…').waitFor({ state: 'hidden' })
  await prepare?.(page)
  await page.waitForTimeout(500)
  await page.screenshot({ path: join(folder, file), animations: 'disabled' })
  await page.close()
  return true
}
