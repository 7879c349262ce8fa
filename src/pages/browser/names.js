import { useEffect, useState } from './htm.js'
import { base } from './page.js'
import { send } from './session.js'
import { itemsOf, titleOf, valueAt } from './values.js'

/** Longest list that the service sends. */
const MAXIMUM = 100

/** What an identifier is made of. */
const IDENTIFIER = /^[\w.~-]{1,64}$/

/**
 * @typedef {object} Target where the name of a referenced resource is
 * @property {string} path of its collection
 * @property {string} name_field
 * @property {string} relation of the link to it
 */

/** @typedef {{ name: string, href: string }} Named */

/**
 * The names of resources of one collection by identifier, in one request. Without access to the collection there are none.
 *
 * @param {Target} target
 * @param {unknown[]} values
 * @returns {Promise<Map<unknown, Named>>}
 */
async function namesIn({ path, name_field: field }, values) {
  const ids = [...new Set(values)].filter((id) => IDENTIFIER.test(String(id ?? ''))).slice(0, MAXIMUM)
  if (ids.length === 0) return new Map()
  const url = `${base}/${path}?limit=${Math.max(ids.length, 1)}&filter=id[in]:${ids.join('%7C')}`
  const { body } = await send(url, { headers: { Accept: 'application/json' } })
  const items = /** @type {any[]} */ (body?._embedded?.[path] ?? [])
  return new Map(
    items.map((item) => [item.id, { name: titleOf(item, field), href: `${base}/${path}/${item.id}` }]),
  )
}

/** @param {() => Promise<[string, Map<unknown, Named>][]>} load @returns {Map<string, Map<unknown, Named>>} */
function useLoaded(load) {
  const [names, setNames] = useState(/** @type {Map<string, Map<unknown, Named>>} */ (new Map()))
  useEffect(() => {
    void load().then((found) => setNames(new Map(found)))
  }, [])
  return names
}

/**
 * The name and the address of the resource that a field refers to; undefined until they are known.
 *
 * @param {Record<string, Target>} targets by field
 * @param {(field: string) => unknown[]} valuesOf the values of a field
 * @returns {(field: string, value: unknown) => Named | undefined}
 */
export function useNames(targets, valuesOf) {
  const names = useLoaded(() => {
    const fields = Object.entries(targets)
    const paths = new Map(fields.map(([, target]) => [target.path, target]))
    const found = [...paths].map(async ([path, target]) => {
      const values = fields.flatMap(([field, one]) => (one.path === path ? valuesOf(field) : []))
      return /** @type {[string, Map<unknown, Named>]} */ ([path, await namesIn(target, values)])
    })
    return Promise.all(found)
  })
  return (field, value) => names.get(targets[field]?.path ?? '')?.get(value)
}

/**
 * The same for the items of the list at the address of this page, which embeds what they refer to: a text that names a
 * resource need not be its identifier.
 *
 * @param {Record<string, Target>} targets
 * @returns {(field: string, value: unknown) => Named | undefined}
 */
export function useListedNames(targets) {
  const names = useLoaded(() => {
    const found = Object.entries(targets).map(async ([field, { relation, name_field: nameField }]) => {
      const url = new URL(location.href.split('#')[0] ?? '')
      url.searchParams.set('fields', field)
      url.searchParams.set('embed', relation)
      const { body } = await send(url.href, { headers: { Accept: 'application/json', Prefer: 'count=none' } })
      const named = (itemsOf(body) ?? []).map((item) => {
        const target = item._embedded?.[relation]
        const name = target && { name: titleOf(target, nameField), href: target._links.self.href }
        return /** @type {[unknown, Named]} */ ([valueAt(item, field), name])
      })
      return /** @type {[string, Map<unknown, Named>]} */ ([field, new Map(named)])
    })
    return Promise.all(found)
  })
  return (field, value) => names.get(field)?.get(value)
}
