import test from 'ava'
import { ownedBy, referenceLeaves, referencesTo, relationsOf } from '../../src/model/definition/relations.ts'
import type { Resource } from '../../src/model/definition/resource.ts'
import type { TextField } from '../../src/model/kinds/text.ts'
import { resources } from '../helpers/domain/domain.ts'
import { type Body, collectionPath, Fixtures, resourcePath } from '../helpers/domain/fixtures.ts'
import type { Json } from '../helpers/service/client.ts'
import { shareServiceOfSuite } from '../helpers/service/service.ts'

// One request after the other: side by side they would only wait for the same database.
const service = shareServiceOfSuite(test)
const fixtures = () => new Fixtures(service().writer)

/** The link relations of the references that a body sets, by itself or by a text that means one. */
function setReferences(resource: Resource, body: Body): string[] {
  return relationsOf(resource, resources)
    .filter(({ leaf }) =>
      leaf.field.hidden
        ? resource.leaves.some(
            ({ name, field }) => (field as TextField).alsoMatches === leaf.name && name in body,
          )
        : leaf.name in body,
    )
    .map(({ relation }) => relation)
}

/** The lists below one resource: those it owns, and those of the resources that refer to it. */
function listsBelow(resource: Resource): Resource[] {
  const owned = ownedBy(resource, resources).filter((child) => child.listed)
  const nested = referencesTo(resource, resources).filter(({ leaf }) => leaf.field.nested)
  return [...owned, ...nested.map(({ from }) => from)]
}

/** The collections whose resources refer to one, which are found by a filter. */
function referringTo(resource: Resource) {
  return referencesTo(resource, resources).filter(
    ({ from, leaf }) => from.kind === 'collection' && !leaf.field.nested,
  )
}

function relations({ body }: { body: Json }): string[] {
  return Object.keys(body._links).sort()
}

for (const resource of resources) {
  const { path, owner, parentField } = resource
  const { listed, replaceable } = resource
  const singletons = ownedBy(resource, resources).filter((child) => !child.listed)
  const lone = singletons.map((child) => child.path)

  test.serial(
    `${path}: each response has exactly the relations of its occasion, and each leads somewhere`,
    async (t) => {
      const { reader, writer, base } = service()
      const { answer, body, path: address, parentId, id, collection } = await fixtures().create(resource)
      const references = setReferences(resource, body)
      const around = ['self', ...(listed ? ['collection'] : []), ...(owner ? ['parent'] : [])]
      const edits = [...(replaceable ? ['edit'] : []), 'delete']
      const below = listsBelow(resource).map((child) => child.path)
      const referring = referringTo(resource).map(({ from }) => from.path)
      const read = await reader.get(address)
      t.deepEqual(
        relations(read),
        [...around, ...edits, ...references, ...below, ...lone, ...referring].sort(),
      )
      if (listed) {
        t.deepEqual(relations(answer), [...around, ...references].sort())
        const { body: list } = await reader.get(`${collection}?id=${id}`)
        t.deepEqual(relations({ body: list._embedded[path][0] }), ['self'])
      }
      if (replaceable) {
        await writer.delete(address)
        const put = await writer.put(address, { ...body, id })
        t.deepEqual([put.status, ...relations(put)], [201, ...['self', ...references].sort()], put.text)
      }
      const links = read.body._links
      for (const name of ['self', ...edits]) t.deepEqual(links[name], { href: base + address })
      if (listed) t.deepEqual(links.collection, { href: base + collection })
      if (owner)
        t.deepEqual(links.parent, { href: base + resourcePath(owner, undefined, parentId as string) })
      for (const [relation, { href }] of Object.entries<Json>(links)) {
        t.is((await reader.get(href)).status, lone.includes(relation) ? 404 : 200, relation)
      }
    },
  )

  test.serial(`${path}: references that are not set have no link`, async (t) => {
    const body = await fixtures().minimalBody(resource)
    const { path: address } = await fixtures().create(resource, { body })
    const { body: read } = await service().reader.get(address)
    const unset = relationsOf(resource, resources).map(({ relation }) => relation)
    const set = setReferences(resource, body)
    for (const relation of unset) t.is(relation in read._links, set.includes(relation))
    t.pass()
  })

  for (const child of singletons) {
    test.serial(
      `${path}: it has a link to its ${child.path}, set or not, so that one entity tag covers it`,
      async (t) => {
        const { reader, writer } = service()
        const { path: address, id } = await fixtures().create(resource)
        const before = await reader.get(address)
        const link = before.body._links[child.path]
        t.is((await reader.get(link?.href)).status, 404)
        const same = async () => {
          const { body, headers } = await reader.get(address)
          t.deepEqual([body, headers.get('etag')], [before.body, before.headers.get('etag')])
        }
        const set = await fixtures().create(child, { parentId: id })
        t.deepEqual(link, set.answer.body._links.self)
        await same()
        await writer.delete(set.path)
        await same()
      },
    )
  }

  for (const { from, leaf } of referringTo(resource)) {
    test.serial(`${path}: it links to the ${from.path} whose ${leaf.name} names it`, async (t) => {
      const { reader, writer, base } = service()
      const { path: address, id } = await fixtures().create(resource)
      const { body } = await reader.get(address)
      const { href } = body._links[from.path]
      t.is(href, `${base}/${from.path}?filter=${leaf.name}:${id}`)
      t.is((await reader.get(href)).body.total_count, 0)
      if (leaf.field.readOnly) return
      const referring = await writer.post(`/${from.path}`, {
        ...(await fixtures().minimalBody(from)),
        [leaf.name]: id,
      })
      await fixtures().create(from)
      const list = await reader.get(href)
      t.deepEqual(
        list.body._embedded[from.path].map((item: Json) => item.id),
        [referring.body.id],
      )
    })
  }

  if (owner && parentField) {
    test.serial(`${path}: each is found under its own parent only`, async (t) => {
      const { reader, writer } = service()
      const mine = await fixtures().create(resource)
      if (listed) {
        const other = await fixtures().create(resource)
        const wrong = resourcePath(resource, other.parentId, mine.id)
        t.is((await reader.get(wrong)).status, 404)
        if (replaceable) t.is((await writer.patch(wrong, {})).status, 404)
        t.is((await writer.delete(wrong)).status, 204)
        const { body } = await reader.get(other.collection)
        t.deepEqual([body.total_count, body[parentField]], [1, other.parentId])
      }
      t.is((await reader.get(mine.path)).body[parentField], mine.parentId)
    })

    test.serial(
      `${path}: under a parent that never existed it is 404, under a deleted one 410`,
      async (t) => {
        const { reader, writer } = service()
        const body = await fixtures().body(resource)
        const deleted = await fixtures().parent(resource)
        t.is((await writer.delete(resourcePath(owner, undefined, deleted as string))).status, 204)
        for (const [parentId, status] of [
          ['never-was', 404],
          ['a%20b', 404],
          ['%00', 404],
          [deleted, 410],
        ] as const) {
          const collection = collectionPath(resource, parentId)
          const expected = [status, status === 404 ? 'RESOURCE_NOT_FOUND' : 'RESOURCE_GONE']
          if (listed) {
            for (const answer of [await reader.get(collection), await writer.post(collection, body)]) {
              t.deepEqual([answer.status, answer.body.error?.code], expected, `${parentId}: ${answer.text}`)
            }
          }
          if (replaceable) {
            const address = resourcePath(resource, parentId, 'chosen')
            const answer = await writer.put(address, { ...body, ...(listed && { id: 'chosen' }) })
            t.deepEqual([answer.status, answer.body.error?.code], expected, `${parentId}: ${answer.text}`)
          }
        }
      },
    )

    test.serial(`${path}: it is deleted with its parent, and gone`, async (t) => {
      const { reader, writer } = service()
      const { path: address, parentId, body, id } = await fixtures().create(resource)
      const parent = resourcePath(owner, undefined, parentId as string)
      const parentBody = await fixtures().body(owner)
      t.is((await writer.delete(parent)).status, 204)
      t.is((await reader.get(address)).status, 410)
      t.is((await writer.put(parent, { ...parentBody, id: parentId })).status, 201)
      t.is((await reader.get(address)).status, 410)
      if (!replaceable) return
      const again = await writer.put(address, { ...body, ...(listed && { id }) })
      t.deepEqual([again.status, again.headers.get('etag')], [201, `"${id}:2"`], again.text)
    })
  }

  for (const { leaf, target } of relationsOf(resource, resources)) {
    if (leaf.field.readOnly) continue
    if (!leaf.field.hidden) {
      test.serial(`${path}: ${leaf.name} must name one of the ${target.path}`, async (t) => {
        const { writer } = service()
        const { collection } = await fixtures().create(resource)
        const body = await fixtures().body(resource)
        for (const id of ['never-was', 'not an identifier', '']) {
          const refused = await writer.request(listed ? 'POST' : 'PUT', collection, {
            ...body,
            [leaf.name]: id,
          })
          if (id === '' && leaf.field.required) continue
          t.deepEqual(
            [refused.status, refused.body.error?.code],
            [422, 'BUSINESS_RULE_VIOLATION'],
            refused.text,
          )
          t.like(refused.body.error.details[0], { field: leaf.name, code: 'UNKNOWN_REFERENCE' })
        }
      })
    }

    test.serial(`${path}: the target of its ${leaf.name} cannot be deleted`, async (t) => {
      const { reader, writer } = service()
      const { path: address } = await fixtures().create(resource)
      const { href } = (await reader.get(address)).body._links[leaf.field.relation]
      const refused = await writer.delete(href)
      t.deepEqual([refused.status, refused.body?.error.code], [409, 'DEPENDENCY_CONFLICT'])
      t.is((await reader.get(href)).status, 200)
      t.is((await writer.delete(address)).status, 204)
      t.is((await writer.delete(href)).status, 204)
    })
  }

  for (const leaf of referenceLeaves(resource).filter(({ field }) => field.nested)) {
    test.serial(`${path}: those of one of the ${leaf.field.to} are listed below it`, async (t) => {
      const { reader, base } = service()
      const { path: address, id, answer } = await fixtures().create(resource)
      await fixtures().create(resource)
      const { href } = (await reader.get(address)).body._links[leaf.field.relation]
      const { body } = await reader.get(`${href}/${path}`)
      t.deepEqual(
        body._embedded[path].map(({ id }: Json) => id),
        [id],
      )
      t.deepEqual(body._embedded[path][0]._links, { self: answer.body._links.self })
      t.deepEqual(body._links.parent, { href })
      t.is(body._links.self.href, `${href}/${path}?page=1&limit=20`)
      t.is((await reader.get(`${base}/${leaf.field.to}/never-was/${path}`)).status, 404)
      const post = await service().writer.post(`${href}/${path}`, {})
      t.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD, OPTIONS'])
    })
  }
}
