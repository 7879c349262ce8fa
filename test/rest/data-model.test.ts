import { readFile } from 'node:fs/promises'
import test from 'ava'
import { drawEntities, drawTypes, relationshipsOf } from '../../src/documents/data-model.ts'
import { defineResource, reference, text } from '../../src/domain/definition.ts'
import { typeMap } from '../../src/graph/type-map.ts'
import { createCompleteSchema } from '../../src/service/features.ts'
import { domain, resources } from '../helpers/domain/domain.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)
const HTML = { accept: 'text/html' }

async function modelPage(origin = service().origin): Promise<string> {
  return (await fetch(`${origin}/model`, { headers: HTML })).text()
}

test('the diagrams of docs/MODEL.md are what the definitions make; `npm run docs` writes them', async (t) => {
  const committed = (name: string) => readFile(new URL(`../../docs/images/${name}`, import.meta.url), 'utf8')
  const types = typeMap(createCompleteSchema(resources, domain.versions), resources)
  t.true((await committed('entities.svg')) === (await drawEntities(resources)).text)
  t.true((await committed('types.svg')) === (await drawTypes(types)).text)
})

test('relationships have the cardinalities of the definitions', (t) => {
  const relationships = relationshipsOf(resources)
  const shown = relationships.map(
    ({ parent, parents, children, child, column, identifying }) =>
      `${parents} ${parent.path}, ${children} ${child.path} by ${column}${identifying ? ', owned' : ''}`,
  )
  for (const expected of [
    'one planets, zero or more moons by planet_id, owned',
    'one planets, zero or one atmosphere by planet_id, owned',
    'zero or one planets, zero or more missions by destination_planet_id',
    'one astronauts, zero or more crew by astronaut_id',
    'zero or one planets, zero or more species by planet_id',
  ]) {
    t.true(shown.includes(expected), expected)
  }
  const references = resources.flatMap(({ leaves }) =>
    leaves.filter(({ field }) => field.type === 'reference'),
  )
  t.is(relationships.length, references.length + resources.filter(({ owner }) => owner).length)
})

test('the page has a drawing of every entity and every type, and tables with every field', async (t) => {
  const html = await modelPage()
  const sectionOf = (id: string) => html.slice(html.indexOf(`<div id="${id}">`)).split('</details>')[0] ?? ''
  const [entities = '', types = ''] = html.match(/<svg[\s\S]*?<\/svg>/g) ?? []
  for (const { name, path, leaves } of resources) {
    t.true(entities.includes(`href="#entity-${path}"`) && types.includes(`href="#type-${name}"`), name)
    const section = sectionOf(`entity-${path}`)
    for (const { column } of leaves)
      t.true(section.includes(`<th scope="row">${column}</th>`), `${name}.${column}`)
  }
  const relationsOf = (path: string) =>
    sectionOf(`entity-${path}`)
      .match(/<li>.*?<\/li>/g)
      ?.map((item) => item.replace(/<[^>]+>/g, ''))
  t.deepEqual(relationsOf('moons'), ['one Planet: owned through planet_id'])
  t.true(relationsOf('planets')?.includes('zero or more Moon: owned through its planet_id'))
  t.false(relationsOf('planets')?.some((relation) => /^one /.test(relation)))
  const schema = createCompleteSchema(resources)
  for (const { name, fields } of typeMap(schema, resources)) {
    const section = sectionOf(`type-${name}`)
    for (const field of fields)
      t.true(section.includes(`<th scope="row">${field.name}</th>`), `${name}.${field.name}`)
  }
  for (const [, anchor] of html.matchAll(/href="#([^"]+)"/g)) t.true(html.includes(`id="${anchor}"`), anchor)
})

test('the page names no field of the schema where introspection is off', async (t) => {
  const { origin } = await startTestService(t, { graphqlIntrospection: false })
  const html = await modelPage(origin)
  t.true(html.includes('entity-planets'))
  t.true(html.includes('The resources of the service are generated'))
  t.notRegex(html, /moonsConnection|type-Planet/)
})

test('a domain of a hundred collections is drawn, and texts of its definitions are escaped', async (t) => {
  const many = Array.from({ length: 100 }, (_, index) =>
    defineResource({
      kind: 'collection',
      name: `Thing${index}`,
      path: `things-${index}`,
      description: '</svg><script>alert(1)</script>',
      fields: {
        label: text('A <b>label</b>.', { required: true }),
        previous_id: reference(`things-${Math.floor(index / 2)}`, 'a<b>"c"', 'The one before.'),
      },
    }),
  )
  const drawing = await drawEntities(many)
  t.is([...drawing.text.matchAll(/href="#entity-things-\d+"/g)].length, 100)
  t.notRegex(drawing.text, /<script|a<b>/)
  const types = await drawTypes(typeMap(createCompleteSchema(resources), resources))
  t.regex(types.text, /^<svg/)
})
