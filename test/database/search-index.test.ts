import { PGlite } from '@electric-sql/pglite'
import test from 'ava'
import { readMigrations } from '../../src/database/migrations/migration-files.ts'
import { filterCondition } from '../../src/database/sql/filter.ts'
import { Parameters } from '../../src/database/sql/statement.ts'
import { species } from '../../src/domain/resources/species.ts'
import type { Filter } from '../../src/model/query/query.ts'
import { searchFilter } from '../../src/model/query/search.ts'
import { domainFolder } from '../../src/service/settings/domain-folder.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

const INDEXED: readonly [string, Filter, string[]][] = [
  ['a search', searchFilter(species, 'DEEP lant'), ['lamp', 'wild']],
  ['icontains', { field: 'common_name', operator: 'containsInsensitive', value: 'LANTERN' }, ['lamp']],
  ['contains', { field: 'common_name', operator: 'contains', value: 'p lan' }, ['lamp']],
  [
    'contains with characters of patterns',
    { field: 'habitat', operator: 'contains', value: '100%_\\' },
    ['wild'],
  ],
  ['a word with the letter that has two lower cases', searchFilter(species, 'ΟΔΟΣ'), ['greek']],
]

test.serial.before(async () => {
  await service().database.pool.query(`INSERT INTO species (id, scientific_name, common_name, classification_kingdom, habitat, discovery_status)
    VALUES ('lamp', 'Luminara profundis', 'Deep lantern', 'Animalia', 'sea', 'known'),
      ('wild', 'Lantern', 'deepest', 'animus', '100%_\\', 'known'),
      ('greek', 'Ulva', 'ΟΔΟΣΑ', NULL, NULL, 'known')`)
})

async function plan(condition: string, values: readonly unknown[]): Promise<{ ids: string[]; plan: string }> {
  const client = await service().database.pool.connect()
  try {
    const select = `SELECT id FROM species WHERE ${condition} ORDER BY id`
    const { rows } = await client.query(select, [...values])
    await client.query('BEGIN')
    await client.query('SET LOCAL enable_seqscan = off')
    const explained = await client.query(`EXPLAIN ${select}`, [...values])
    await client.query('ROLLBACK')
    const plan = explained.rows.map((row) => row['QUERY PLAN']).join('\n')
    return { ids: rows.map(({ id }) => id), plan }
  } finally {
    client.release()
  }
}

for (const [title, filter, ids] of INDEXED) {
  test.serial(`${title} finds the same as without an index, and can use the index`, async (t) => {
    const parameters = new Parameters()
    const found = await plan(filterCondition(species, filter, parameters), parameters.values)
    t.deepEqual(found.ids, ids)
    t.regex(found.plan, /species_search_idx/)
    const plain = new Parameters()
    const other = await plan(
      filterCondition({ ...species, searchIndex: undefined } as never, filter, plain),
      plain.values,
    )
    t.deepEqual(other.ids, ids)
  })
}

test('a prefix uses the index of its field, and the search index where the field has none', async (t) => {
  const filter: Filter = { field: 'classification.kingdom', operator: 'startsWith', value: 'Anim' }
  const leaves = species.shownLeaves.map((leaf) => ({ ...leaf, field: { ...leaf.field, index: undefined } }))
  const resources = [species, { ...species, leaves, shownLeaves: leaves } as never]
  for (const [index, resource] of resources.entries()) {
    const parameters = new Parameters()
    const condition = filterCondition(resource, filter, parameters)
    t.is(condition.includes('ILIKE'), index === 1)
    const found = await plan(condition, parameters.values)
    t.deepEqual(found.ids, ['lamp'])
    if (index === 0) t.regex(found.plan, /species_classification_kingdom_id_idx/)
  }
})

test('a text is found by a part whose letters have another lower case there', async (t) => {
  const parameters = new Parameters()
  const filter: Filter = { field: 'common_name', operator: 'contains', value: 'ΔΟΣ' }
  const found = await plan(filterCondition(species, filter, parameters), parameters.values)
  t.deepEqual(found.ids, ['greek'])
})

test('without pg_trgm, the migrations succeed and there is no search index', async (t) => {
  const engine = await PGlite.create()
  t.teardown(() => engine.close())
  for (const { sql } of await readMigrations(domainFolder().migrations)) await engine.exec(sql)
  const { rows } = await engine.query("SELECT FROM pg_indexes WHERE indexname LIKE '%_search_idx'")
  t.is(rows.length, 0)
  await engine.exec("INSERT INTO species (id, scientific_name, discovery_status) VALUES ('a', 'A', 'known')")
})
