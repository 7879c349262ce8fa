import test from 'ava'
import { Access } from '../../src/model/access/access.ts'
import type { AccessRule } from '../../src/model/access/access-rules.ts'
import { defineResource } from '../../src/model/definition/define-resource.ts'
import type { LeafField } from '../../src/model/definition/fields.ts'
import { integer } from '../../src/model/kinds/integer.ts'
import { text } from '../../src/model/kinds/text.ts'

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
  const access = new Access({ caller, settings: {}, lower: (one) => one })
  t.true(access.admits('read', texts, { size: '5' }))
  t.true(access.admits('read', numbers, { size: 5 }))
  t.false(access.admits('read', numbers, { size: 6 }))
  t.notDeepEqual(access.readable(texts), access.readable(numbers))
})
