import test from 'ava'
import { DatabaseError } from 'pg'
import { deletionError, writeError } from '../../src/domain/database-errors.ts'
import { planets } from '../../src/domain/resources/planets.ts'
import { WriteConflict } from '../../src/domain/transaction.ts'

for (const [name, code] of Object.entries({ serialization_failure: '40001', deadlock_detected: '40P01' })) {
  test(`a write or a deletion that ends with ${name} is repeated`, (t) => {
    const error = Object.assign(new DatabaseError('', 0, 'error'), { code })
    t.true(writeError(error, planets) instanceof WriteConflict)
    t.true(deletionError(error, [planets]) instanceof WriteConflict)
  })
}
