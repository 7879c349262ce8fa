import { html } from './htm.js'

/**
 * A name in words: `Crew capacity`.
 *
 * @param {string} name
 */
export function label(name) {
  const text = name.replaceAll(/[_-]/g, ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/**
 * The label of a field with its unit: `Distance (parsecs)`.
 *
 * @param {string} name
 * @param {any} schema
 */
export function fieldLabel(name, schema) {
  const unit = schema?.['x-unit']
  return `${schema?.title ?? label(name)}${unit ? ` (${unit})` : ''}`
}

/**
 * The schemas of single values, by dotted name, in the order of the definition.
 *
 * @param {any} schema of an object
 * @returns {[name: string, schema: any][]}
 */
export function leavesOf(schema) {
  return Object.entries(schema?.properties ?? {}).flatMap(([name, member]) =>
    member.properties
      ? leavesOf(member).map(([inner, leaf]) => {
          const title = `${fieldLabel(name, member)}: ${leaf.title}`
          return /** @type {[string, any]} */ ([`${name}.${inner}`, { ...leaf, title }])
        })
      : /** @type {[string, any][]} */ ([[name, member]]),
  )
}

/**
 * @param {any} document
 * @param {string} name dotted
 */
export function valueAt(document, name) {
  return name.split('.').reduce((inner, member) => inner?.[member], document)
}

/**
 * What names a resource for people.
 *
 * @param {any} resource
 * @param {string | undefined} field that names it, if its definition declares no title
 */
export function titleOf(resource, field) {
  return String(resource?._links?.self?.title ?? valueAt(resource, field ?? 'id') ?? resource?.id)
}

/**
 * The items of a list. A resource embeds other resources, and lists, but no items.
 *
 * @param {any} body
 * @returns {any[] | undefined}
 */
export function itemsOf(body) {
  return Object.values(body?._embedded ?? {}).find(Array.isArray)
}

/**
 * A readable value: times in UTC with the exact time as a tooltip, references as links with names.
 *
 * @param {{ value: any, schema: any, href?: string | undefined, name?: string | undefined }} properties
 */
export function Value({ value, schema, href, name }) {
  if (value === undefined || value === null) return html`<span class="absent">–</span>`
  if (schema?.format === 'date-time') return html`<${Time} value=${value} hasTime />`
  if (schema?.format === 'date') return html`<${Time} value=${value} />`
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value === 'object') {
    const members = Object.entries(value)
    return html`<dl class="members">
      ${members.map(([name, one]) => html`<div><dt>${name}</dt><dd>${String(one)}</dd></div>`)}
    </dl>`
  }
  const text = name ?? schema?.['x-labels']?.[value] ?? String(value)
  const title = text === String(value) ? undefined : String(value)
  return href && isWeb(href) ? html`<a href=${href} title=${title}>${text}</a>` : text
}

/** @param {{ value: string, hasTime?: boolean }} properties */
function Time({ value, hasTime }) {
  const style = /** @type {const} */ ({ dateStyle: 'medium', timeZone: 'UTC' })
  const date = new Date(value)
  const text = hasTime
    ? `${date.toLocaleString(undefined, { ...style, timeStyle: 'short' })} UTC`
    : date.toLocaleDateString(undefined, style)
  return html`<time datetime=${value} title=${value}>${text}</time>`
}

/**
 * Whether an address may be the target of a link.
 *
 * @param {string} href
 */
export function isWeb(href) {
  return URL.canParse(href, location.href) && /^https?:$/.test(new URL(href, location.href).protocol)
}
