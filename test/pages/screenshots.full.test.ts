import { execFile } from 'node:child_process'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { createTestFolder } from '../helpers/database/database.ts'
import { openPage } from '../helpers/service/browser.ts'

const run = promisify(execFile)
const IMAGES = 'docs/images'
const LARGEST_BYTES = 150_000

async function pictures(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.png')).sort()
}

test('the screenshots are small, and documents show each of them', async (t) => {
  const names = await pictures(IMAGES)
  t.true(names.length > 3)
  const documents = await Promise.all(['README.md', 'docs/COMMANDS.md'].map((file) => readFile(file, 'utf8')))
  for (const name of names) {
    t.true((await stat(join(IMAGES, name))).size < LARGEST_BYTES, name)
    t.true(documents.join().includes(`images/${name}`), name)
  }
})

test('npm run screenshots takes all of them again, where there is a browser', async (t) => {
  const folder = await createTestFolder(t)
  const command = run('npm', ['run', '--silent', 'screenshots', '--', folder])
  if (await openPage(t)) {
    await command
    t.deepEqual(await pictures(folder), await pictures(IMAGES))
    for (const name of await pictures(folder)) t.true((await stat(join(folder, name))).size > 1_000, name)
  } else {
    const error = await t.throwsAsync(command)
    t.regex((error as Error & { stderr: string }).stderr, /no browser at .*BROWSER_PATH/)
  }
})
