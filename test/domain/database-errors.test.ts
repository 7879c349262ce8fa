import test from 'ava'
import { DatabaseError } from 'pg'
import { deletionError, writeError } from '../../src/domain/database-errors.ts'
import { moons } from '../../src/domain/resources/moons.ts'
import { planets } from '../../src/domain/resources/planets.ts'
import { WriteConflict } from '../../src/domain/transaction.ts'

for (const [name, code] of Object.entries({ serialization_failure: '40001', deadlock_detected: '40P01' })) {
  test(`a write or a deletion that ends with ${name} is repeated`, (t) => {
    const error = Object.assign(new DatabaseError('', 0, 'error'), { code })
    t.true(writeError(error, planets) instanceof WriteConflict)
    t.true(deletionError(error, [planets]) instanceof WriteConflict)
  })
}

test('a deletion that a foreign key refuses names the collection that has it, if there is one', (t) => {
  const messageFor = (constraint: string) => {
    const error = Object.assign(new DatabaseError('', 0, 'error'), { code: '23503', constraint })
    return (deletionError(error, [moons, planets]) as Error).message
  }
  t.is(messageFor('moons_planet_id_fkey'), 'It cannot be deleted while moons refer to it.')
  t.is(messageFor('notes_planet_id_fkey'), 'It cannot be deleted while other resources refer to it.')
})
