import { readFile } from 'node:fs/promises'
import test from 'ava'
import { printSchema } from 'graphql'
import { createSchema } from '../../src/graph/schema/schema.ts'
import { resources } from '../helpers/domain.ts'

test('docs/schema.graphql is what the definitions make; `npm run docs` writes it', async (t) => {
  const committed = await readFile(new URL('../../docs/schema.graphql', import.meta.url), 'utf8')
  t.true(committed === `${printSchema(createSchema(resources))}\n`)
})
