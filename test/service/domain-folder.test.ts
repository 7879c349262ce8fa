import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import {
  defineResource,
  enumeration,
  group,
  reference,
  text,
  timestamp,
} from '../../src/domain/definition.ts'
import { createSchema } from '../../src/graph/schema/schema.ts'
import { DefinitionError, definitionProblems } from '../../src/model/definition-problems.ts'
import { domainFolder, loadDefinitions, loadTables } from '../../src/service/settings/domain-folder.ts'
import { createTestFolder } from '../helpers/database/database.ts'
import { domain } from '../helpers/domain/domain.ts'
import { runCommand } from '../helpers/service/commands.ts'

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
  const odd = defineResource({
    ...shelves,
    fields: {
      id: name,
      version: name,
      'two words': name,
      place: reference('shelves', 'place', 'Place.', { nested: true, uniqueWithinParent: true }),
      genre: enumeration([], 'Genre.'),
      size: group('Size.', { format: enumeration(['A4', 'A4', 'A-5'], 'Format.') }),
      none: group('None.', {}),
      code: text('C.', { pattern: 'a.c', example: 'abc' }),
      sign: text('S.', { pattern: '[A-Z]' }),
      mark: text('M.', { pattern: '[A-Z]', example: 'a' }),
      created_date: name,
    },
  })
  const empty = defineResource({
    ...boxes,
    owner: odd,
    fields: { shelf_id: timestamp('T.', { readOnly: true }) },
  })
  t.deepEqual(definitionProblems({ resources: [odd, empty] }), [
    'shelves.id: this name is reserved',
    'shelves.version: this name is reserved',
    'shelves.two words: a name has letters, digits and underscores, and begins with a letter',
    'shelves.place: it is unique within the parent, but a collection has no parent',
    'shelves.genre: it needs a value',
    'shelves.size.format: the value "A4" must be a GraphQL name, and once',
    'shelves.size.format: the value "A-5" must be a GraphQL name, and once',
    'shelves.none: a group needs a field',
    'shelves.code: the pattern a.c uses more than characters, [classes], (groups), |, ?, *, + and {m,n}',
    'shelves.sign: a pattern needs an example',
    'shelves.mark: the example does not match the pattern',
    'shelves.created_date: this name is reserved',
    'boxes.shelf_id: this name is reserved',
    'boxes: it has no field that a caller may write',
  ])
  for (const nothing of [undefined, {}, { resources: [] }]) {
    t.regex(definitionProblems(nothing).join(), /must export `domain`, with at least one resource/)
  }
})

test('names that clash in the GraphQL schema are refused', (t) => {
  const clashing = defineResource({
    ...boxes,
    fields: { shelf: name, room_id: reference('shelves', 'room', 'Room.') },
  })
  t.throws(() => createSchema([shelves, clashing]), {
    instanceOf: DefinitionError,
    message:
      /:\n {2}GraphQL: Field "Shelf.boxes" can only be defined once.\n(?:.*\n)* {2}GraphQL: Field "Box.shelf" can/,
  })
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
    [join(await createTestFolder(t), 'nowhere'), /nowhere.*\n.*The module of definitions is missing/],
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
