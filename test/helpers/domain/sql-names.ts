import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const SQL = /\b(?:SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|ORDER BY)\b/

/** Every name in the SQL of the engine: of columns, aliases, variables and functions, in its migrations and statements. */
export async function sqlNames(): Promise<string[]> {
  const migrations = await textsOf('prisma/engine', '.sql')
  const sources = await Promise.all(
    ['src/database', 'src/domain', 'src/commands'].map((path) => textsOf(path, '.ts')),
  )
  const literals = sources.flat().flatMap((text) => text.match(/`[^`]*`|'[^'\n]*'/g) ?? [])
  const statements = literals.filter((text) => SQL.test(text))
  const texts = [...migrations.map((text) => text.replaceAll(/--.*/g, '')), ...statements]
  return [...new Set(texts.join('\n').match(/\b[a-z][a-z0-9_]*\b/g))].sort()
}

async function textsOf(path: string, end: string): Promise<string[]> {
  const names = await readdir(path, { recursive: true })
  return Promise.all(
    names.filter((name) => name.endsWith(end)).map((name) => readFile(join(path, name), 'utf8')),
  )
}
