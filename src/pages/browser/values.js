import { html } from './htm.js'

/**
 * The label of a field or a collection: `Crew capacity`.
 *
 * @param {string} name
 */
export function label(name) {
  const text = name.replaceAll(/[_-]/g, ' ').replaceAll('.', ': ')
  return text.charAt(0).toUpperCase() + text.slice(1)
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
      ? leavesOf(member).map(([inner, leaf]) => /** @type {[string, any]} */ ([`${name}.${inner}`, leaf]))
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
 * The field that identifies a resource to people: its first required text.
 *
 * @param {any} schema
 * @returns {string}
 */
export function titleField(schema) {
  const names = Object.entries(schema?.properties ?? {})
    .filter(
      ([name, { type, readOnly, format, enum: values }]) =>
        type === 'string' &&
        !readOnly &&
        !format &&
        !values &&
        schema.required?.includes(name) &&
        !name.endsWith('_id'),
    )
    .map(([name]) => name)
  return names[0] ?? 'id'
}

/**
 * A readable value: times in the time zone of the browser with the exact time as a tooltip, references as links.
 *
 * @param {{ value: any, schema: any, href?: string | undefined }} properties
 */
export function Value({ value, schema, href }) {
  if (value === undefined || value === null) return html`<span class="absent">–</span>`
  if (schema?.format === 'date-time') return html`<${Time} value=${value} />`
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value === 'object') {
    const members = Object.entries(value)
    return html`<dl class="members">
      ${members.map(([name, one]) => html`<div><dt>${name}</dt><dd>${String(one)}</dd></div>`)}
    </dl>`
  }
  return href && isWeb(href) ? html`<a href=${href}>${String(value)}</a>` : String(value)
}

/** @param {{ value: string }} properties */
function Time({ value }) {
  const text = new Date(value).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
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
