import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { defineResource, reference, text } from '../src/domain/definition.ts'
import { DefinitionError, definitionProblems } from '../src/domain/model/definition-problems.ts'
import { domainFolder, loadDefinitions, loadTables } from '../src/settings/domain-folder.ts'
import { runCommand } from './helpers/commands.ts'
import { createTestFolder } from './helpers/database.ts'
import { domain } from './helpers/domain.ts'

const name = text('Name.', { required: true })
const shelves = defineResource({
  kind: 'collection',
  name: 'Shelf',
  path: 'shelves',
  description: 'A shelf.',
  fields: { name },
})
const boxes = defineResource({
  kind: 'owned',
  owner: shelves,
  name: 'Box',
  path: 'boxes',
  description: 'A box.',
  fields: { name },
})

test('a domain is refused with every contradiction in it', (t) => {
  const lost = defineResource({
    ...boxes,
    name: 'Shelf',
    path: 'lost',
    fields: {
      room_id: reference('rooms', 'room', 'Room.'),
      box_id: reference('boxes', 'box', 'Box.'),
    },
  })
  t.deepEqual(definitionProblems({ resources: [shelves, boxes] }), [])
  t.deepEqual(definitionProblems({ resources: [boxes, boxes, lost, shelves] }), [
    'Several resources have the path "boxes"',
    'Several resources have the name "Box"',
    'Several resources have the name "Shelf"',
    'lost: room_id refers to rooms, which is not among the resources of the domain',
    'lost: box_id refers to boxes, which is not a collection',
  ])
  t.deepEqual(definitionProblems({ resources: [boxes] }), [
    'boxes: its owner shelves is not among the resources of the domain',
  ])
  const crowded = defineResource({
    ...shelves,
    fields: { name, shelf_id: reference('shelves', 'shelf', 'Shelf.') },
    occupancy: { list: 'boxes', reference: 'shelf_id', capacity: 'name' },
  })
  t.deepEqual(definitionProblems({ resources: [crowded] }), [
    'shelves: occupancy has the list boxes, which is no list of shelves',
    'shelves: occupancy has the capacity name, which is no numeric field of shelves',
  ])
  const occupancy = { list: 'shelves', reference: 'name', capacity: 'height' }
  t.deepEqual(definitionProblems({ resources: [{ ...crowded, occupancy }] }), [
    'shelves: occupancy has the reference name, which is no reference of shelves',
  ])
  for (const nothing of [undefined, {}, { resources: [] }]) {
    t.regex(definitionProblems(nothing).join(), /must export `domain`, with at least one resource/)
  }
})

test('a Prisma client that lacks a model or a field of the definitions is refused', async (t) => {
  const { folder } = domain
  const [first, ...others] = domain.resources
  const more = defineResource({
    ...(first as typeof shelves),
    fields: { ...first?.fields, colour: text('C.') },
  })
  const error = await t.throwsAsync(loadTables({ folder, resources: [more, ...others, shelves] }), {
    instanceOf: DefinitionError,
  })
  t.regex(error?.message ?? '', new RegExp(`model ${more.name} lacks colour\\n.*no model Shelf\\n.*migrate`))
})

/** A folder with this module of definitions, built, and a file that makes it ECMAScript. */
async function folderWith(t: ExecutionContext, module: string): Promise<string> {
  const path = join(await createTestFolder(t), 'domain')
  await mkdir(join(path, 'dist'), { recursive: true })
  await writeFile(join(path, 'package.json'), '{ "type": "module" }')
  await writeFile(join(path, 'dist/index.js'), module)
  return path
}

test('a folder without definitions, or with some that cannot be loaded, is refused with its place', async (t) => {
  const cases = [
    [join(await createTestFolder(t), 'nowhere'), /nowhere.*\n.*There is no module of definitions here/],
    [await folderWith(t, 'export const resources = []'), /domain.dist.index.js.*\n.*must export `domain`/],
    [
      await folderWith(t, 'throw new Error("not today")'),
      /domain.dist.index.js.*\n.*cannot be loaded: not today/,
    ],
  ] as const
  for (const [path, message] of cases) {
    await t.throwsAsync(loadDefinitions(domainFolder(path)), { instanceOf: DefinitionError, message })
  }
})

test('a command with a DOMAIN that cannot be served says so in one message, without a stack', async (t) => {
  const { status, errors } = await runCommand('migrate', { DOMAIN: await folderWith(t, 'export {}') })
  t.is(status, 1)
  t.regex(
    errors,
    /^The domain in .*index\.js cannot be served:\n {2}The module must export `domain`[^\n]*\n$/,
  )
})
