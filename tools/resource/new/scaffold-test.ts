import { camelCase } from '../../../src/graph/names.ts'
import { noun } from '../../../src/model/definition/labels.ts'
import type { NewResource } from './scaffold.ts'

/** The module of a test, with one test of a property of this resource. */
export function testText(resource: NewResource): string {
  const { path } = resource
  return `import test from 'ava'
import { ${camelCase(path)} } from '../../src/domain/resources/${path}.ts'
import { Fixtures } from '../helpers/domain/fixtures.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

${CLAIMS[resource.kind](resource)}`
}

// The bodies have all required fields, including those that are added to the definition later.
const CLAIMS: Readonly<Record<NewResource['kind'], (resource: NewResource) => string>> = {
  collection: ({
    path,
    name,
  }) => `test('a ${noun({ name })} cannot have the name of another one', async (t) => {
  const { writer } = service()
  const others = await new Fixtures(writer).minimalBody(${camelCase(path)})
  t.is((await writer.post('/${path}', { ...others, name: 'First' })).status, 201)
  const { status, body } = await writer.post('/${path}', { ...others, name: 'FIRST' })
  t.is(status, 409)
  t.is(body.error.details[0].code, 'DUPLICATE_VALUE')
})
`,
  owned: ({
    path,
    owner = { path: '', name: '' },
  }) => `test('names of ${path} are unique within a ${noun(owner)}, and free elsewhere', async (t) => {
  const { writer } = service()
  const fixtures = new Fixtures(writer)
  const first = { ...(await fixtures.minimalBody(${camelCase(path)})), name: 'First' }
  const one = await fixtures.parent(${camelCase(path)})
  const other = await fixtures.parent(${camelCase(path)})
  t.is((await writer.post(\`/${owner.path}/\${one}/${path}\`, first)).status, 201)
  t.is((await writer.post(\`/${owner.path}/\${other}/${path}\`, first)).status, 201)
  const { status, body } = await writer.post(\`/${owner.path}/\${one}/${path}\`, { ...first, name: 'FIRST' })
  t.is(status, 409)
  t.is(body.error.details[0].code, 'DUPLICATE_VALUE')
})
`,
  singleton: ({
    path,
    owner = { path: '', name: '' },
  }) => `test('a ${noun(owner)} has at most one ${path}', async (t) => {
  const { writer } = service()
  const fixtures = new Fixtures(writer)
  const body = await fixtures.minimalBody(${camelCase(path)})
  const address = \`/${owner.path}/\${await fixtures.parent(${camelCase(path)})}/${path}\`
  t.is((await writer.put(address, { ...body, remark: 'First' })).status, 201)
  t.is((await writer.put(address, { ...body, remark: 'Second' })).status, 204)
  t.is((await writer.get(address)).body.remark, 'Second')
})
`,
}
