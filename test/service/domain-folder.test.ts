import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { openApiDocument } from '../../src/documents/openapi/document.ts'
import {
  computed,
  decimal,
  defineResource,
  enumeration,
  type Field,
  group,
  integer,
  json,
  list,
  reference,
  text,
  timestamp,
} from '../../src/domain/definition.ts'
import { DefinitionError, definitionProblems } from '../../src/model/problems/definition-problems.ts'
import { createCompleteSchema } from '../../src/service/features.ts'
import { domainFolder, loadDefinitions, loadTables } from '../../src/service/settings/domain-folder.ts'
import { createTestFolder } from '../helpers/database/database.ts'
import { domain, resources } from '../helpers/domain/domain.ts'
import type { Json } from '../helpers/service/client.ts'
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
  const room = reference('shelves', 'room', 'Room.', { required: true, onDelete: 'set null' })
  const twice = defineResource({
    ...shelves,
    name: 'Twice',
    path: 'row-counts',
    fields: { name, room_id: room, door_id: reference('shelves', 'door', 'Door.') },
  })
  const named = 'give one of them an `inverse`, which names its list in the links of shelves'
  t.deepEqual(
    definitionProblems({ resources: [shelves, twice, { ...shelves, name: 'Odd', path: '1st shelf' }] }),
    [
      'row-counts: this path is reserved',
      '1st shelf: a path has words of letters and digits, with hyphens between them, and begins with a letter',
      `row-counts: room_id refers to shelves, as door_id does: ${named}`,
      "row-counts: room_id is always set, so onDelete cannot be 'set null'",
      `row-counts: door_id refers to shelves, as room_id does: ${named}`,
    ],
  )
  const inner = defineResource({ ...boxes, fields: { name, room_id: reference('shelves', 'room', 'Room.') } })
  t.deepEqual(definitionProblems({ resources: [shelves, inner] }), [
    `boxes: room_id refers to shelves, as its parent does: ${named}`,
  ])
  const inverse = { inverse: 'doors' }
  const apart = { name, room_id: room, door_id: reference('shelves', 'door', 'Door.', inverse) }
  t.deepEqual(
    definitionProblems({
      resources: [shelves, defineResource({ ...twice, path: 'cupboards', fields: apart })],
    }),
    ["cupboards: room_id is always set, so onDelete cannot be 'set null'"],
  )
  const door = reference('shelves', 'door', 'Door.', { ...inverse, nested: true })
  const hall = reference('shelves', 'hall', 'Hall.', { nested: true })
  const below = { name, door_id: door, hall_id: hall }
  const beside = defineResource({ ...shelves, name: 'Beside', path: 'cupboards', fields: below })
  const within = defineResource({ ...boxes, fields: { name, door_id: door } })
  t.deepEqual(definitionProblems({ resources: [shelves, beside, within] }), [
    'cupboards: door_id cannot be nested: the list of hall_id is already at /shelves/{id}/cupboards',
    'cupboards: hall_id cannot be nested: the list of door_id is already at /shelves/{id}/cupboards',
    'boxes: door_id cannot be nested: the list of its parent is already at /shelves/{id}/boxes',
  ])
  t.deepEqual(definitionProblems({ resources: [shelves, { ...boxes, path: 'versions' }] }), [
    'versions: this path is reserved below a resource',
  ])
  t.deepEqual(definitionProblems({ resources: [{ ...shelves, path: 'versions' }] }), [])
  const odd = defineResource({
    ...shelves,
    fields: {
      id: name,
      version: name,
      'two words': name,
      place: text('Place.', { unique: { within: 'shelf_id' } }),
      genre: enumeration([], 'Genre.'),
      state: enumeration(['new', 'old'], 'State.', {
        initially: 'new',
        transitions: { new: ['odd'], bad: [] },
      }),
      size: group('Size.', { format: enumeration(['A4', 'A4', 'A-5'], 'Format.') }),
      none: group('None.', {}),
      code: text('C.', { pattern: 'a.c', example: 'abc' }),
      pages: text('P.', { maximumLength: Number.POSITIVE_INFINITY }),
      sign: text('S.', { pattern: '[A-Z]' }),
      mark: text('M.', { pattern: '[A-Z]', example: 'a' }),
      created_date: name,
    },
  })
  const empty = defineResource({
    ...boxes,
    owner: odd,
    fields: { shelf_id: timestamp('T.', { readOnly: true }) },
    searchIndex: true,
  })
  t.deepEqual(definitionProblems({ resources: [odd, empty] }), [
    'shelves.id: this name is reserved',
    'shelves.version: this name is reserved',
    'shelves.two words: a name has letters, digits and underscores, and begins with a letter',
    'shelves.genre: it needs a value',
    'shelves.state: its transitions need initially, and an entry for each value',
    'shelves.state: its transitions name bad, which is not a value',
    'shelves.state: its transitions name odd, which is not a value',
    'shelves.size.format: the value "A4" must be a GraphQL name, and must not be repeated',
    'shelves.size.format: the value "A-5" must be a GraphQL name, and must not be repeated',
    'shelves.none: a group needs a field',
    'shelves.code: the pattern a.c uses more than characters, [classes], (groups), |, ?, *, + and {m,n}',
    'shelves.pages: its maximumLength must be from 1 to 1000000',
    'shelves.sign: a pattern needs an example',
    'shelves.mark: the example does not match the pattern',
    'shelves.created_date: this name is reserved',
    'shelves.place: it is unique within shelf_id, which is not another field that can be compared',
    'boxes.shelf_id: this name is reserved',
    'boxes: it has no field that a caller may write',
    'boxes: it has no text for its search index',
  ])
  for (const nothing of [undefined, {}, { resources: [] }]) {
    t.regex(definitionProblems(nothing).join(), /must export `domain`, with at least one resource/)
  }
})

test('each misuse of a kind of field is one line with the resource and the field', (t) => {
  const javaScript = (options: object) => options as never
  const wrong = defineResource({
    ...shelves,
    fields: {
      name,
      plain: javaScript(text),
      nothing: javaScript({}),
      silent: text(' '),
      unlabelled: text('U.', { label: ' ', unit: '' }),
      sizeless: group('S.', { height: integer('H.') }, { label: '' }),
      misspelt: text('M.', javaScript({ requried: true })),
      list: enumeration(javaScript('a' as never), 'L.'),
      narrow: integer('N.', { minimum: 2, maximum: 1 }),
      huge: decimal(30, 2, 'H.', { maximum: 1e21 }),
      fine: decimal(4, 1, 'F.', { minimum: 0.25 }),
      wide: decimal(4, 1, 'W.', { maximum: 1000 }),
      state: enumeration(['open'], 'S.', { initially: 'closed' }),
      sizes: json('S.', { unique: true }),
      code: text('C.', { unique: { within: ['name', 'colour', 'code', 'name'] } }),
      place: text('P.', { unique: { within: [] } }),
      sum: computed(' ', integer('S.', { required: true })),
      parts: computed('1', json('P.')),
      cover: group('C.', { side: computed('1', integer('S.')) }),
      above: reference('shelves', 'above', 'A.', { required: true, nested: true }),
    },
  })
  const compared = 'which is not another field that can be compared'
  t.deepEqual(definitionProblems({ resources: [wrong] }), [
    "shelves.plain: it is not a field: call a function such as text('…')",
    "shelves.nothing: it is not a field: call a function such as text('…')",
    'shelves.silent: it needs a description',
    'shelves.unlabelled: its label is blank',
    'shelves.unlabelled: its unit is blank',
    'shelves.sizeless: its label is blank',
    'shelves.misspelt: text has no option requried',
    'shelves.list: its values must be an array',
    'shelves.narrow: its minimum and maximum must be numbers, and the minimum must not exceed the maximum',
    'shelves.huge: its maximum must be a decimal number such as "12.50"',
    'shelves.fine: its minimum must not have more than 1 decimal places',
    'shelves.wide: its maximum must not have more than 3 digits before the decimal point',
    'shelves.state: its initial value must be one of open',
    'shelves.sum: its expression is empty',
    'shelves.sum: a computed field cannot be required or unique, or have an initial value',
    'shelves.parts: a field of the kind json cannot be computed',
    'shelves.cover.side: a member of a group cannot be computed',
    'shelves.sizes: a field of the kind json cannot be unique',
    `shelves.code: it is unique within name, ${compared}`,
    `shelves.code: it is unique within colour, ${compared}`,
    `shelves.code: it is unique within code, ${compared}`,
    `shelves.code: it is unique within name, ${compared}`,
    'shelves.place: its `within` names no field',
    'shelves: above cannot be required: the first of shelves has none to refer to',
    'shelves: above cannot be nested: shelves would be listed below themselves',
  ])
})

test('an option is accepted up to its bounds, and refused beyond them', (t) => {
  const problemsOf = (fields: Record<string, Field>) =>
    definitionProblems({ resources: [defineResource({ ...shelves, fields: { name, ...fields } })] })
  const words = (maximum: number) => list(text('Word.'), 'Words.', { maximum })
  const within = {
    shortest: text('T.', { maximumLength: 1 }),
    longest: text('T.', { maximumLength: 1_000_000 }),
    smallest: json('J.', { maximumBytes: 2 }),
    largest: json('J.', { maximumBytes: 1_000_000 }),
    one: words(1),
    thousand: words(1_000),
    whole: decimal(1, 0, 'D.'),
    part: decimal(100, 100, 'D.'),
  }
  t.deepEqual(problemsOf(within), [])
  const beyond = {
    none: text('T.', { maximumLength: 0 }),
    longer: text('T.', { maximumLength: 1_000_001 }),
    smaller: json('J.', { maximumBytes: 1 }),
    larger: json('J.', { maximumBytes: 1_000_001 }),
    empty: words(0),
    many: words(1_001),
    zero: decimal(0, 0, 'D.'),
    precise: decimal(101, 0, 'D.'),
    negative: decimal(4, -1, 'D.'),
    wider: decimal(4, 5, 'D.'),
    half: decimal(4.5, 1, 'D.'),
    quarter: decimal(4, 0.25, 'D.'),
  }
  const digits = 'it needs a precision from 1 to 100, and a scale from 0 to the precision'
  t.deepEqual(problemsOf(beyond), [
    'shelves.none: its maximumLength must be from 1 to 1000000',
    'shelves.longer: its maximumLength must be from 1 to 1000000',
    'shelves.smaller: its maximumBytes must be from 2 to 1000000',
    'shelves.larger: its maximumBytes must be from 2 to 1000000',
    'shelves.empty: its maximum must be from 1 to 1000',
    'shelves.many: its maximum must be from 1 to 1000',
    ...['zero', 'precise', 'negative', 'wider', 'half', 'quarter'].map(
      (field) => `shelves.${field}: ${digits}`,
    ),
  ])
})

test('names that clash in the GraphQL schema are refused', (t) => {
  const clashing = defineResource({
    ...boxes,
    fields: { shelf: name, room_id: reference('shelves', 'room', 'Room.') },
  })
  t.throws(() => createCompleteSchema([shelves, clashing]), {
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
  t.regex(
    error?.message ?? '',
    new RegExp(`model ${more.name} lacks the field colour\\n.*no model Shelf\\n.*migrate`),
  )
})

/** A folder with this module of definitions, built, and a file that makes it ECMAScript. */
async function folderWith(t: ExecutionContext, module: string): Promise<string> {
  const path = join(await createTestFolder(t), 'domain')
  await mkdir(join(path, 'dist'), { recursive: true })
  await writeFile(join(path, 'package.json'), '{ "type": "module" }')
  await writeFile(join(path, 'dist/index.js'), module)
  return path
}

test('the OpenAPI document names the licence and the author of the domain, if its package.json has them', async (t) => {
  const path = await folderWith(t, `export * from '${pathToFileURL(domainFolder().definitions)}'`)
  const settings = { publicBaseUrl: undefined, namespace: 'api', apiVersion: 'v1', maximumPageSize: 100 }
  const infoOf = async (manifest: object) => {
    await writeFile(join(path, 'package.json'), JSON.stringify({ type: 'module', ...manifest }))
    const { license, contact } = await loadDefinitions(domainFolder(path))
    return openApiDocument(resources, { ...settings, license, contact })['info'] as Json
  }
  for (const license of [undefined, 'UNLICENSED', 'SEE LICENSE IN terms.txt', { type: 'MIT' }, ''])
    t.is((await infoOf({ license })).license, undefined)
  const license = 'MIT OR Apache-2.0'
  t.deepEqual((await infoOf({ license })).license, { name: license, identifier: license })
  const ada = { name: 'Ada', email: 'ada@example.org', url: 'https://example.org' }
  for (const [author, contact] of [
    ['Ada', { name: 'Ada' }],
    ['Ada <ada@example.org> (https://example.org)', ada],
    ['<ada@example.org>', { email: 'ada@example.org' }],
    [ada, ada],
    ...[undefined, '', 5, {}, null, { name: 5 }].map((none) => [
      none,
      { name: 'The operator of this service' },
    ]),
  ])
    t.deepEqual((await infoOf({ author })).contact, contact, JSON.stringify(author))
})

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
