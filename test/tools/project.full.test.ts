import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { createTestFolder, type Owner } from '../helpers/database/database.ts'
import { runCommand } from '../helpers/service/commands.ts'

// A domain in a folder of its own, as its author works on it: with the commands alone.

const releases: (() => unknown)[] = []
const owner: Owner = { teardown: (release) => void releases.push(release) }
let folder: string
let run: (name: string, ...parameters: string[]) => ReturnType<typeof runCommand>

test.before(async () => {
  folder = await createTestFolder(owner)
  const environment = { DOMAIN: folder, DATA_DIR: join(folder, '.data'), DATABASE_TIMEOUT: '60000' }
  run = (name, ...parameters) => runCommand(name, environment, ...parameters)
})

test.after.always(async () => {
  for (const release of releases.reverse()) await release()
})

/** Writes the definition of books, and of the shelves that hold them. */
async function define(fields: string, { name = 'Book', domain = '' } = {}): Promise<void> {
  const text = `import { defineResource, decimal, enumeration, reference, text } from 'halgraph/domain'

const shelves = defineResource({
  kind: 'collection', name: 'Shelf', path: 'shelves', description: 'A shelf.', fields: { name: text('Name.') },
})
const books = defineResource({
  kind: 'collection', name: '${name}', path: 'books', description: 'A book.', fields: { title: text('Title.'), ${fields} },
})
export const domain = {
  resources: [shelves, books],
  ${domain}
}
`
  await writeFile(join(folder, 'index.ts'), text)
}

test.serial(
  'definitions that Prisma refuses write nothing, and the next ones go on from there',
  async (t) => {
    await define('', { name: 'Json' })
    const refused = await run('resource', 'migrate')
    t.is(refused.status, 1)
    t.regex(
      refused.errors,
      /Nothing was written, because Prisma refuses[^\n]*\n- "Json" is a reserved scalar type name/,
    )
    t.false(existsSync(join(folder, 'prisma')))
    await define("shelf_id: reference('shelves', 'shelf', 'Shelf.', { index: 'filter' })")
    const { status, output, errors } = await run('resource', 'migrate')
    t.is(status, 0, errors)
    t.regex(output, /Wrote .*schema\.prisma/)
    t.is((await run('build')).status, 0)
  },
)

test.serial(
  'a schema that is not valid, as a former version could write it, is written again by migrate',
  async (t) => {
    const file = join(folder, 'prisma/schema.prisma')
    const valid = await readFile(file, 'utf8')
    await writeFile(file, valid.replace('  @@index([shelf_id])', '$&\n  @@index([shelf_id])'))
    t.regex((await run('build')).errors, /has to be unique/)
    const { status, output, errors } = await run('resource', 'migrate')
    t.is(status, 0, errors)
    t.regex(output, /Wrote .*schema\.prisma/)
    t.is(await readFile(file, 'utf8'), valid)
    t.is((await run('build')).status, 0)
    await writeFile(file, `${valid}\nmodel Mine {\n  id Missing @id\n}\n`)
    t.regex(
      (await run('resource', 'migrate')).errors,
      /Nothing was written, because Prisma refuses.*\n- Type "Missing"/,
    )
    await writeFile(file, valid)
  },
)

test.serial('a value of an enumeration that rows have is removed only with permission', async (t) => {
  const status = (values: string) => `status: enumeration([${values}], 'Status.', { initially: 'new' })`
  await define(`shelf_id: reference('shelves', 'shelf', 'Shelf.'), ${status("'new', 'lost'")}`)
  t.is((await run('resource', 'migrate')).status, 0)
  const file = join(folder, 'books.ndjson')
  await writeFile(file, '{"status":"lost"}\n{"status":"lost"}\n{"status":"new"}\n')
  t.is((await run('import', 'books', file)).output, 'Imported 3, skipped 0, refused 0\n')
  await define(`shelf_id: reference('shelves', 'shelf', 'Shelf.'), ${status("'new'")}`)
  const refused = await run('resource', 'migrate')
  t.is(refused.status, 1)
  t.regex(refused.errors, /books\.status: 2 rows have a value that the definition does not allow/)
  const { output, errors } = await run('resource', 'migrate', '--allow-invalid-rows')
  t.regex(output, /2 rows have a value that the definition does not allow\. They are kept\./, errors)
  t.is((await run('migrate')).status, 0)
})

test.serial('a catalogue with a problem adds nothing, and says where it is', async (t) => {
  const file = join(folder, 'prisma/seed/catalogue.json')
  await mkdir(join(folder, 'prisma/seed'))
  const seed = async (text: string) => {
    await writeFile(file, text)
    return run('seed')
  }
  t.regex((await seed('[{]')).errors, /The catalogue is not a JSON array/)
  const refused = await seed('[{"collection":"shelves","id":"a"},{"collection":"books","id":"b","title":1}]')
  t.is(refused.status, 1)
  t.regex(
    refused.errors,
    /No entry was created:\n {2}\S*prisma\/seed\/catalogue\.json:1: entry 2 \(books\/b\): title must be a string\.\n$/,
  )
  t.is((await seed('[{"collection":"shelves","id":"a"}]')).output, 'Created 1, skipped 0\n')
})

test.serial('a resource can be added where fields are only in some versions of the API', async (t) => {
  await define(
    "shelf_id: reference('shelves', 'shelf', 'Shelf.'), status: enumeration(['new'], 'S.', { initially: 'new' }), price: decimal(8, 2, 'Price.', { since: 'v2' })",
    {
      domain: "versions: [{ name: 'v1' }, { name: 'v2' }],",
    },
  )
  const { status, output, errors } = await run('resource', 'new', 'authors')
  t.is(status, 0, errors)
  t.regex(output, /Wrote .*authors\.ts/)
  t.is((await run('resource', 'migrate')).status, 0)
})
