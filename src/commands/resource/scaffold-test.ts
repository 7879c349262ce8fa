import { constantOf, type NewResource, nounOf } from './scaffold.ts'

/** The module of a test, with one claim about what distinguishes the resource. */
export function testText(resource: NewResource): string {
  const { path, owner } = resource
  const definition = `import { ${constantOf(resource)} } from '../../src/domain/resources/${path}.ts'`
  const imports = [
    `import test from 'ava'`,
    ...(owner ? [definition, `import { Fixtures } from '../helpers/fixtures.ts'`] : []),
    `import { shareTestService } from '../helpers/service.ts'`,
  ]
  return `${imports.join('\n')}

const service = shareTestService(test)

${CLAIMS[resource.kind](resource)}`
}

const CLAIMS: Readonly<Record<NewResource['kind'], (resource: NewResource) => string>> = {
  collection: ({
    path,
    name,
  }) => `test('a ${nounOf(name)} cannot have the name of another one', async (t) => {
  const { writer } = service()
  t.is((await writer.post('/${path}', { name: 'First' })).status, 201)
  const { status, body } = await writer.post('/${path}', { name: 'FIRST' })
  t.is(status, 409)
  t.is(body.error.details[0].code, 'DUPLICATE_VALUE')
})
`,
  owned: (resource) => {
    const { path, owner = { path: '', name: '' } } = resource
    return `test('names of ${path} are unique within a ${nounOf(owner.name)}, and free elsewhere', async (t) => {
  const { writer } = service()
  const one = await ${parentOf(resource)}
  const other = await ${parentOf(resource)}
  t.is((await writer.post(\`/${owner.path}/\${one}/${path}\`, { name: 'First' })).status, 201)
  t.is((await writer.post(\`/${owner.path}/\${other}/${path}\`, { name: 'First' })).status, 201)
  const { status, body } = await writer.post(\`/${owner.path}/\${one}/${path}\`, { name: 'FIRST' })
  t.is(status, 409)
  t.is(body.error.details[0].code, 'DUPLICATE_VALUE')
})
`
  },
  singleton: (resource) => {
    const { path, owner = { path: '', name: '' } } = resource
    return `test('a ${nounOf(owner.name)} has at most one ${path}', async (t) => {
  const { writer } = service()
  const address = \`/${owner.path}/\${await ${parentOf(resource)}}/${path}\`
  t.is((await writer.put(address, { remark: 'First' })).status, 201)
  t.is((await writer.put(address, { remark: 'Second' })).status, 204)
  t.is((await writer.get(address)).body.remark, 'Second')
})
`
  },
}

function parentOf(resource: NewResource): string {
  return `new Fixtures(writer).parent(${constantOf(resource)})`
}
