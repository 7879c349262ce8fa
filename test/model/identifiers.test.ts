import test from 'ava'
import { isIdentifier, makeIdentifier, slug } from '../../src/model/rows/identifiers.ts'
import { resources } from '../helpers/domain/domain.ts'
import { fc } from '../helpers/process/run.ts'

test('an identifier is 1 to 64 unreserved characters, and neither . nor ..', (t) => {
  for (const id of ['a', '0', '-', '_', '~', '...', '.a', 'a.', 'A-Z_~.9', 'x'.repeat(64)])
    t.true(isIdentifier(id), id)
  for (const id of [
    '',
    '.',
    '..',
    'x'.repeat(65),
    'a b',
    'a/b',
    'ü',
    'a\n',
    '\na',
    'a%20',
    'a:b',
    'a\0',
    '🦎',
  ]) {
    t.false(isIdentifier(id), JSON.stringify(id))
  }
})

test('an identifier is the same in a URL, regardless of the encoder', (t) => {
  fc.assert(
    fc.property(fc.string({ maxLength: 70, unit: 'binary' }).filter(isIdentifier), (id) => {
      t.is(encodeURIComponent(id), id)
      t.is(new URL(`http://host/a/${id}`).pathname, `/a/${id}`)
    }),
  )
})

test('SPEC §2.5.7: identifiers of sensitive resources tell no order, the others increase', (t) => {
  for (const resource of resources) {
    const made = Array.from({ length: 50 }, () => makeIdentifier(resource))
    t.true(made.every(isIdentifier))
    t.is(new Set(made).size, 50)
    const versions = new Set(made.map((id) => id[14]))
    t.deepEqual([...versions], [resource.randomIdentifiers ? '4' : '7'])
    if (!resource.randomIdentifiers) t.deepEqual([...made].sort(), made)
  }
})

test('a slug is an identifier similar to the text, or undefined', (t) => {
  t.is(slug('Kepler-22 b'), 'kepler-22-b')
  t.is(slug('Été du Nord!'), 'ete-du-nord')
  t.is(slug('a/../b'), 'a-..-b')
  t.is(slug('🪐 Ⅻ ﬁn'), 'xii-fin')
  for (const text of ['', '🪐', '..', '///', '漢字', 'Плутон 7', 'Sønderborg', 'Zone ٧'])
    t.is(slug(text), undefined)
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => {
      const made = slug(text)
      t.true(made === undefined || isIdentifier(made))
    }),
  )
})
