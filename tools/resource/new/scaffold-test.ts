import { constantOf, type NewResource, nounOf } from './scaffold.ts'

/** The module of a test, with one test of a property of this resource. */
export function testText(resource: NewResource): string {
  const { path } = resource
  const definition = `import { ${constantOf(resource)} } from '../../src/domain/resources/${path}.ts'`
  const imports = [
    `import test from 'ava'`,
    definition,
    `import { Fixtures } from '../helpers/domain/fixtures.ts'`,
    `import { shareTestService } from '../helpers/service/service.ts'`,
  ]
  return `${imports.join('\n')}

const service = shareTestService(test)

${CLAIMS[resource.kind](resource)}`
}

// The bodies have all required fields, including those that are added to the definition later.
const CLAIMS: Readonly<Record<NewResource['kind'], (resource: NewResource) => string>> = {
  collection: (resource) => {
    const { path, name } = resource
    return `test('a ${nounOf(name)} cannot have the name of another one', async (t) => {
  const { writer } = service()
  const others = await new Fixtures(writer).minimalBody(${constantOf(resource)})
  t.is((await writer.post('/${path}', { ...others, name: 'First' })).status, 201)
  const { status, body } = await writer.post('/${path}', { ...others, name: 'FIRST' })
  t.is(status, 409)
  t.is(body.error.details[0].code, 'DUPLICATE_VALUE')
})
`
  },
  owned: (resource) => {
    const { path, owner = { path: '', name: '' } } = resource
    return `test('names of ${path} are unique within a ${nounOf(owner.name)}, and free elsewhere', async (t) => {
  const { writer } = service()
  const fixtures = new Fixtures(writer)
  const first = { ...(await fixtures.minimalBody(${constantOf(resource)})), name: 'First' }
  const one = await fixtures.parent(${constantOf(resource)})
  const other = await fixtures.parent(${constantOf(resource)})
  t.is((await writer.post(\`/${owner.path}/\${one}/${path}\`, first)).status, 201)
  t.is((await writer.post(\`/${owner.path}/\${other}/${path}\`, first)).status, 201)
  const { status, body } = await writer.post(\`/${owner.path}/\${one}/${path}\`, { ...first, name: 'FIRST' })
  t.is(status, 409)
  t.is(body.error.details[0].code, 'DUPLICATE_VALUE')
})
`
  },
  singleton: (resource) => {
    const { path, owner = { path: '', name: '' } } = resource
    return `test('a ${nounOf(owner.name)} has at most one ${path}', async (t) => {
  const { writer } = service()
  const fixtures = new Fixtures(writer)
  const body = await fixtures.minimalBody(${constantOf(resource)})
  const address = \`/${owner.path}/\${await fixtures.parent(${constantOf(resource)})}/${path}\`
  t.is((await writer.put(address, { ...body, remark: 'First' })).status, 201)
  t.is((await writer.put(address, { ...body, remark: 'Second' })).status, 204)
  t.is((await writer.get(address)).body.remark, 'Second')
})
`
  },
}
