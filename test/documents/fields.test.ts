import { readFile } from 'node:fs/promises'
import test from 'ava'
import { KINDS, kindOf } from '../../src/model/definition/fields.ts'
import { COMMON_EXAMPLES } from '../../src/model/kinds/kind.ts'
import { fieldsDocument } from '../../tools/docs/fields.ts'
import { madeField } from '../helpers/domain/made-field.ts'

test('docs/FIELDS.md is generated from the kinds of fields', async (t) => {
  t.is(await readFile('docs/FIELDS.md', 'utf8'), fieldsDocument())
})

test('each option of all fields has an example, which makes a valid field with the option', (t) => {
  for (const [option, code] of Object.entries(COMMON_EXAMPLES)) {
    const field = madeField(code)
    t.true(option in field, code)
    t.deepEqual(kindOf(field).problems?.(field) ?? [], [], code)
  }
})

for (const { type, guide, problems, check, sample } of KINDS) {
  test(`${type}: its example makes a valid field, whose sample is a valid value`, (t) => {
    t.like(madeField(guide.code), guide.field)
    t.deepEqual(problems?.(guide.field) ?? [], [])
    t.true('value' in check(guide.field, sample(guide.field, 'name', 1)))
  })
}
