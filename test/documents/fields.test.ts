import { readFile } from 'node:fs/promises'
import test from 'ava'
import * as definition from '../../src/domain/definition.ts'
import { KINDS } from '../../src/model/fields.ts'
import { fieldsDocument } from '../../tools/documents/fields.ts'

test('docs/FIELDS.md is generated from the kinds of fields', async (t) => {
  t.is(await readFile('docs/FIELDS.md', 'utf8'), fieldsDocument())
})

for (const { type, guide, problems, check, sample } of KINDS) {
  test(`${type}: its example makes a valid field, whose sample is a valid value`, (t) => {
    const names = Object.keys(definition)
    const made = new Function(...names, `return ${guide.code}`)(...Object.values(definition))
    t.like(made, guide.field)
    t.deepEqual(problems?.(guide.field) ?? [], [])
    t.true('value' in check(guide.field, sample(guide.field, 'name', 1)))
  })
}
