import { access, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import test from 'ava'

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

async function documents(): Promise<string[]> {
  const folders = await Promise.all(['.', 'bench', 'deploy'].map((folder) => filesIn(folder)))
  return [...folders.flat(), ...(await filesIn('docs', true))].filter((file) => file.endsWith('.md'))
}

async function filesIn(folder: string, recursive = false): Promise<string[]> {
  const files = await readdir(folder, { recursive }).catch(() => [])
  return files.map((file) => join(folder, file))
}

/** The anchors of headings, as GitHub makes them. */
function anchors(markdown: string): string[] {
  const headings = markdown.matchAll(/^#+ (.+)$/gm)
  return [...headings].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('every link and every image of a document leads to a file, and to a heading of it', async (t) => {
  const all = await documents()
  t.true(all.length > 5)
  for (const document of all) {
    const text = await readFile(document, 'utf8')
    for (const [, target = ''] of text.matchAll(/(?:\]\(|src(?:set)?=")(?!https?:|mailto:)([^)"\s]+)[)"]/g)) {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? document : join(dirname(document), path)
      t.true(await exists(file), `${document}: ${target}`)
      if (anchor !== undefined)
        t.true(anchors(await readFile(file, 'utf8')).includes(anchor), `${document}: ${target}`)
    }
  }
})

/** The changelog names files of earlier versions, and the tutorial names those that it makes. */
const EXEMPT = ['CHANGELOG.md', 'docs/TUTORIAL.md']

test('every source file that a document names exists', async (t) => {
  let count = 0
  for (const document of (await documents()).filter((name) => !EXEMPT.includes(name))) {
    const text = (await readFile(document, 'utf8')).replace(/^```.*?^```/gms, '')
    for (const [, path = ''] of text.matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|js|mjs|prisma|yaml|json))`/g)) {
      const places = [path, join('src', path), join('test', path), join(dirname(document), path)]
      t.true((await Promise.all(places.map(exists))).includes(true), `${document}: ${path}`)
      count++
    }
  }
  t.true(count > 20)
})

test('what a document shows of a source file is in that file', async (t) => {
  let count = 0
  for (const document of await documents()) {
    const text = await readFile(document, 'utf8')
    for (const [, path = '', code = ''] of text.matchAll(/^```ts (\S+)\n(.*?)^```$/gms)) {
      const source = await readFile(path, 'utf8')
      for (const part of code.trimEnd().split('\n\n'))
        t.true(source.includes(`\n${part}\n`), `${document}: ${part}`)
      count++
    }
  }
  t.true(count > 1)
})
