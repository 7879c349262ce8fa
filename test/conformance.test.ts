import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { resources } from './helpers/domain/domain.ts'

/** A row of docs/CONFORMANCE.md. A clause that requires several things has several rows. */
interface Row {
  /** As in `4.1`. */
  readonly clause: string
  readonly requirement: string
  readonly behaviour: string
  /** Each as `file` and a part of a title. */
  readonly tests: readonly string[]
}

const rows = readRows()

async function readRows(): Promise<Row[]> {
  const text = await readFile('docs/CONFORMANCE.md', 'utf8')
  const lines = text.split('\n').filter((line) => line.startsWith('| §'))
  return lines.map((line) => {
    const [, name = '', requirement = '', behaviour = '', tests = ''] = line
      .split('|')
      .map((cell) => cell.trim())
    const clause = /^§(\d+(?:\.\d+)*) \S/.exec(name)?.[1] ?? ''
    return { clause, requirement, behaviour, tests: tests.split('<br>') }
  })
}

/** The titles of the tests of a file; what a template literal fills in is a line break. */
async function titlesOf(file: string): Promise<string[]> {
  const text = await readFile(join('test', file), 'utf8')
  const calls = text.matchAll(/\btest(?:\.\w+)?\(\s*(?:'([^']*)'|`([^`]*)`)/g)
  return [...calls].map(([, plain, template]) => plain ?? `${template}`.replace(/\$\{[^}]*\}/g, '\n'))
}

test('each row names a clause, what it requires, what the service does and the tests', async (t) => {
  t.true((await rows).length > 40)
  for (const { clause, requirement, behaviour, tests } of await rows) {
    t.not(clause, '')
    t.not(requirement, '')
    t.not(behaviour, '')
    for (const named of tests) t.regex(named, /^`[\w/-]+(?:\.ci|\.full)?\.test\.ts` \S.{8,}$/, clause)
  }
})

test('the tests that a row names exist', async (t) => {
  for (const { clause, tests } of await rows) {
    for (const named of tests) {
      const [, file = '', title = ''] = /^`(.+)` (.+)$/.exec(named) ?? []
      const titles = await titlesOf(file)
      t.true(
        titles.some((other) => other.includes(title)),
        `${clause}: ${named}`,
      )
    }
  }
})

test('every clause that src cites is in the table', async (t) => {
  const clauses = (await rows).map(({ clause }) => clause)
  const paths = (await readdir('src', { recursive: true })).filter((path) => path.endsWith('.ts'))
  const texts = await Promise.all(paths.map((path) => readFile(join('src', path), 'utf8')))
  const cited = texts.flatMap((text) => [...text.matchAll(/SPEC ((?:(?:, )?§[\d.–]*\d)+)/g)])
  const numbers = cited.flatMap(([, list = '']) => list.match(/\d+(?:\.\d+)*/g) ?? [])
  t.true(numbers.length > 40)
  const isKnown = (number: string) =>
    clauses.some((clause) => clause === number || clause.startsWith(`${number}.`))
  t.deepEqual(
    numbers.filter((number) => !isKnown(number)),
    [],
  )
})

test('names of collections are lowercase words joined by hyphens', (t) => {
  for (const { path } of resources) t.regex(path, /^[a-z]+(?:-[a-z]+)*$/)
})
