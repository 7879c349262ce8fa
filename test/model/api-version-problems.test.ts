import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { domain } from '../../src/domain/resources/index.ts'
import { apiVersionProblems } from '../../src/model/problems/api-version-problems.ts'
import { DefinitionError, definitionProblems } from '../../src/model/problems/definition-problems.ts'
import { domainFolder, loadDefinitions } from '../../src/service/settings/domain-folder.ts'
import { createTestFolder } from '../helpers/database/database.ts'
import { domainWith, versionedDomain } from '../helpers/domain/versioned-domain.ts'

const TWO = [{ name: 'v1' }, { name: 'v2' }]

test('a domain without versions, and one whose versions fit, have no problems', (t) => {
  t.deepEqual(apiVersionProblems(domain), [])
  t.deepEqual(apiVersionProblems(versionedDomain), [])
})

test('versions must be named, in order, dated, and followed by one that is not deprecated', (t) => {
  const versions = [
    { name: 'v2', deprecated: '2030-02-30' },
    { name: 'v1', sunset: '2031-01-01' },
    { name: 'one' },
    { name: 'v7', deprecated: '2030-01-01', sunset: '2030-01-01' },
  ]
  t.deepEqual(apiVersionProblems(domainWith(versions, {})), [
    'versions: deprecated of v2 must be a date such as 2031-04-05, not 2030-02-30',
    'versions: v1 comes after v2, but the oldest version comes first',
    'versions: v1 has sunset but not deprecated',
    'versions: one is not the letter v and a number, as in v1',
    'versions: sunset of v7 must be after deprecated',
    'versions: v7 is the newest version, so it has no successor and cannot be deprecated',
  ])
  t.deepEqual(apiVersionProblems(domainWith([], {})), ['versions: leave it out, or name at least one'])
})

test('fields must be in declared versions, and a required one needs an initial value that is valid', (t) => {
  const changed = domainWith(TWO, {
    'species.habitat': { since: 'v3' },
    'species.common_name': { since: 'v2', until: 'v1' },
    'species.scientific_name': { until: 'v1' },
    'species.classification': { since: 'v2' },
    'species.classification.kingdom': { until: 'v1' },
    'missions.status': { since: 'v2', initially: 'dreamt' },
    'moons.name': { since: 'v2', initially: '  ' },
    'planets.host_star': { since: 'v2' },
  })
  t.deepEqual(definitionProblems(changed), [
    'species.scientific_name: it is required and only in some versions, so it needs initially',
    'moons.name: it is required, so its initial value must not be blank',
    'missions.status: its initial value must be one of planned, active, completed, aborted',
    'species.common_name: since v2 is after until v1, so no version has it',
    'species.classification.kingdom: it is in versions that species.classification is not in',
    'species.habitat: since is v3, but the domain has v1, v2',
  ])
  t.deepEqual(apiVersionProblems(domainWith(undefined, { 'species.habitat': { until: 'v1' } })), [
    'species.habitat: until is v1, but the domain declares no versions',
  ])
})

test('a folder with such definitions is not loaded, and the message names all problems', async (t) => {
  const folder = await createTestFolder(t)
  const helper = new URL('../dist/test/helpers/domain/versioned-domain.js', import.meta.url).href
  const changes = { 'species.habitat': { since: 'v3' }, 'planets.name': { since: 'v2' } }
  await mkdir(join(folder, 'dist'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(
    join(folder, 'dist/index.js'),
    `import { domainWith } from '${helper}'
    export const domain = domainWith(${JSON.stringify(TWO)}, ${JSON.stringify(changes)})`,
  )
  const error = await t.throwsAsync(loadDefinitions(domainFolder(folder)), { instanceOf: DefinitionError })
  t.regex(error?.message ?? '', /planets\.name: it is required.*\n.*species\.habitat: since is v3/)
})
