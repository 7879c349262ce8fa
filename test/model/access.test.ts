import test from 'ava'
import { Access } from '../../src/model/access/access.ts'
import type { AccessFilter, AccessRule } from '../../src/model/access/access-rules.ts'
import { defineResource } from '../../src/model/definition/define-resource.ts'
import { group, type LeafField } from '../../src/model/definition/fields.ts'
import { boolean } from '../../src/model/kinds/boolean.ts'
import { integer } from '../../src/model/kinds/integer.ts'
import { text } from '../../src/model/kinds/text.ts'
import type { Columns } from '../../src/model/rows/row.ts'

/** The rules have no conditions on relations. */
const NONE = new Map()

test('resources that share a rule compare, each, a value of the kind of their own field', (t) => {
  const read: AccessRule = ({ subject }) => ({ size: { equals: subject } })
  const define = (name: string, size: LeafField) =>
    defineResource({
      kind: 'collection',
      name,
      path: name.toLowerCase(),
      description: `A ${name}.`,
      fields: { size },
      access: { read },
    })
  const [texts, numbers] = [define('Texts', text('Size.')), define('Numbers', integer('Size.'))]
  const caller = { subject: '5', scopes: new Set<string>(), claims: {} }
  const access = new Access({ caller, settings: {}, resources: [], lower: (one) => one })
  t.true(access.admits('read', texts, { size: '5' }, NONE))
  t.true(access.admits('read', numbers, { size: 5 }, NONE))
  t.false(access.admits('read', numbers, { size: 6 }, NONE))
  t.notDeepEqual(access.readable(texts), access.readable(numbers))
})

test('a condition without a comparable operand is false, within not too, and the other branches count', (t) => {
  const size = group('Size.', { height: integer('Height.') })
  const fields = { owner: text('Owner.'), public: boolean('Public.'), size }
  const tried = (filter: AccessFilter, row: Columns) => {
    const access = { read: () => filter }
    const things = defineResource({
      kind: 'collection',
      name: 'T',
      path: 't',
      description: 'T.',
      fields,
      access,
    })
    const caller = { subject: undefined, scopes: new Set<string>(), claims: {} }
    const rights = { caller, settings: {}, resources: [], lower: (one: string) => one }
    return new Access(rights).admits('read', things, row, NONE)
  }
  const row = { owner: 'ada', public: true, size_height: 5 }
  const missing = { owner: { equals: undefined } }
  const wrong = { owner: { in: ['bob', 5] } }
  const isPublic = { public: { equals: true } }
  for (const one of [
    missing,
    wrong,
    { owner: undefined },
    { size: { height: null } },
    { size: { height: { gt: {} } } },
  ]) {
    const text = JSON.stringify(one)
    t.false(tried(one, row), text)
    t.false(tried({ not: one }, row), text)
    t.false(tried({ not: { not: one } }, row), text)
    t.false(tried({ ...one, ...isPublic }, row), text)
    t.true(tried({ or: [one, isPublic] }, row), text)
    t.false(tried({ not: { or: [one, { not: isPublic }] } }, row), text)
    t.true(tried({ not: { and: [one, { not: isPublic }] } }, row), text)
  }
  t.true(tried({ owner: { in: ['ada', 5, undefined] } }, row))
  for (const part of ['and', 'or', 'not']) t.false(tried({ [part]: undefined }, row), part)
  t.false(tried({ or: [undefined, false] }, row))
  t.true(tried({ or: [undefined, true] }, row))
  t.false(tried({ not: { owner: { notEquals: null } } }, row))
})
