import test from 'ava'
import { type DatabaseRule, defineResource, reference, text } from '../../src/domain/definition.ts'
import { ruledDependents } from '../../src/domain/dependents.ts'

/** Folders in folders, which are deleted together. */
const folders = (databaseRule?: DatabaseRule) =>
  defineResource({
    kind: 'collection',
    name: 'Folder',
    path: 'folders',
    description: 'A folder.',
    fields: {
      name: text('Name.'),
      within_id: reference('folders', 'within', 'Folder around it.', { onDelete: 'cascade' }),
    },
    ...(databaseRule && { databaseRule }),
  })

test('resources that refer to their own kind have a rule to ask only if that kind has one', (t) => {
  const without = folders()
  t.deepEqual(ruledDependents(without, [without]), [])
  const ruled = folders(async () => {})
  t.deepEqual(ruledDependents(ruled, [ruled]), [{ resource: ruled, column: 'within_id' }])
})
