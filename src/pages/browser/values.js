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

/** Days and times in ISO 8601, which titles have. */
const MOMENTS = /(?<![\w-])\d{4}-\d{2}-\d{2}(T[\d:.]+Z)?(?![\w-])/g

/**
 * What names a resource for people. The days and times in a declared title are shown as those in columns are.
 *
 * @param {any} resource
 * @param {string | undefined} field that names it, if its definition declares no title
 */
export function titleOf(resource, field) {
  const title = resource?._links?.self?.title
  const shown = (/** @type {string} */ moment, /** @type {string | undefined} */ time) =>
    Number.isNaN(Date.parse(moment)) ? moment : textOf(moment, { format: time ? 'date-time' : 'date' })
  return String(title?.replace(MOMENTS, shown) ?? valueAt(resource, field ?? 'id') ?? resource?.id)
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
 * Whether values are numbers, or texts of exact numbers.
 *
 * @param {any} schema
 */
export function isNumeric(schema) {
  return schema?.type === 'number' || schema?.type === 'integer' || schema?.format === 'decimal'
}

const DAY = /** @type {const} */ ({ year: 'numeric', month: 'short', day: 'numeric' })
const days = new Intl.DateTimeFormat(undefined, { ...DAY, timeZone: 'UTC' })
const minutes = new Intl.DateTimeFormat(undefined, {
  ...DAY,
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
})

/** Most digits after the decimal point that `Intl.NumberFormat` shows. */
const MAXIMUM_DIGITS = 100

/** All digits of a number, with separators of thousands. An integer without a unit may be a year: it has them from 10,000. */
function numberText(/** @type {number | string} */ value, /** @type {any} */ schema) {
  const text = String(value)
  const digits = text.split('.')[1]?.length ?? 0
  if (!/^-?[\d.]+$/.test(text) || digits > MAXIMUM_DIGITS) return text
  const useGrouping = schema?.type === 'integer' && !schema['x-unit'] ? 'min2' : 'always'
  const format = new Intl.NumberFormat(undefined, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    useGrouping,
  })
  return format.format(/** @type {Intl.StringNumericLiteral} */ (text))
}

const parts = new Intl.NumberFormat(undefined, { useGrouping: true }).formatToParts(1_234_567.8)
const signOf = (/** @type {string} */ type) => plain(parts.find((part) => part.type === type)?.value ?? '')
const [GROUP, DECIMAL] = [signOf('group'), signOf('decimal')]
const DIGITS = [...new Intl.NumberFormat(undefined, { useGrouping: false }).format(9_876_543_210)].reverse()

/** Spaces, apostrophes and minus signs have several forms. */
function plain(/** @type {string} */ character) {
  return character.replace(/\s/, ' ').replace('’', "'").replace('−', '-')
}

/** @param {string} character */
function inEnglish(character) {
  if (DIGITS.includes(character)) return String(DIGITS.indexOf(character))
  if (plain(character) === DECIMAL) return '.'
  return plain(character) === GROUP ? ',' : plain(character).replace(/[.,]/, '?')
}

/**
 * The digits of a number that was written as pages show it: `1234.50` of `1.234,50`; undefined if the text is no number.
 *
 * @param {string} text
 */
export function digitsIn(text) {
  const written = text.trim()
  const local = [...written].map(inEnglish).join('')
  if (/^[+-]?\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d*)?$/.test(local))
    return local.replaceAll(',', '').replace('+', '')
  // A point that cannot separate groups begins a fraction everywhere.
  const found = [local, written].find((one) => /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(one))
  return found?.replace('+', '').replace(/\.(?!\d)/, '')
}

/** A number for a control: as the reader writes it, without separators of thousands. @param {unknown} value */
export function writtenNumber(value) {
  return String(value).replace('.', DECIMAL)
}

/**
 * A value as people read it: numbers with separators, times to the minute in the time zone of the browser.
 *
 * @param {any} value
 * @param {any} [schema]
 * @returns {string}
 */
export function textOf(value, schema) {
  if (value === undefined || value === null) return '–'
  if (schema?.format === 'date-time') return minutes.format(new Date(value))
  if (schema?.format === 'date') return days.format(new Date(value))
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number' || isNumeric(schema)) return numberText(value, schema)
  if (Array.isArray(value)) return value.map((one) => textOf(one, schema?.items)).join(', ')
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([name, one]) => `${name}: ${textOf(one)}`)
      .join(', ')
  const labels = schema?.['x-labels'] ?? {}
  return Object.hasOwn(labels, value) ? labels[value] : String(value)
}

/**
 * A readable value, with the exact one as a tooltip; a reference is a link with its name.
 *
 * @param {{ value: any, schema: any, href?: string | undefined, name?: string | undefined, isCut?: boolean }} properties
 *   isCut: in a row of a list, which has one line: a long value shows its beginning
 */
export function Value({ value, schema, href, name, isCut = false }) {
  if (value === undefined || value === null || value.length === 0) return html`<span class="absent">–</span>`
  const text = name ?? textOf(value, schema)
  if (schema?.format === 'date') return html`<time datetime=${value}>${text}</time>`
  if (schema?.format === 'date-time')
    // Takes the focus, so that the exact time can be read without a mouse.
    return html`<time datetime=${value} title=${value} tabindex="0">${text}</time>`
  if (typeof value === 'object' && !isCut) return html`<${Parts} value=${value} schema=${schema} />`
  const beginning = isCut ? beginningOf(text) : text
  // The whole of what a column cuts.
  const title = isCut ? text : typeof value !== 'string' || text === value ? undefined : value
  const target = schema?.format === 'uri' ? text : href
  if (target && isWeb(target)) return html`<a href=${target} title=${title} dir="auto">${beginning}</a>`
  return html`<span title=${title} dir="auto">${beginning}</span>`
}

/** An item of a list. @param {any} value @param {any} schema */
function partOf(value, schema) {
  const text = textOf(value, schema)
  return schema?.format === 'uri' && isWeb(text) ? html`<a href=${text}>${text}</a>` : text
}

/** The items of a list, or the members of an object. */
function Parts(/** @type {{ value: any, schema: any }} */ { value, schema }) {
  if (Array.isArray(value))
    return html`<ul class="items">${value.map((one) => html`<li dir="auto">${partOf(one, schema?.items)}</li>`)}</ul>`
  return html`<dl class="members">
    ${Object.entries(value).map(([name, one]) => html`<div><dt dir="auto">${name}</dt><dd dir="auto">${textOf(one)}</dd></div>`)}
  </dl>`
}

/** Longest text in a list that is not cut, in characters as people count them. */
const CUT = 80
/** A character such as an emoji has several code units. */
const MAXIMUM_UNITS = 16 * CUT
const characters = new Intl.Segmenter()

/**
 * The text itself if it is short, and else its beginning with an ellipsis.
 *
 * @param {string} text
 */
export function beginningOf(text) {
  if (text.length <= CUT) return text
  const all = [...characters.segment(text.slice(0, MAXIMUM_UNITS))].map(({ segment }) => segment)
  return all.length <= CUT && text.length <= MAXIMUM_UNITS ? text : `${all.slice(0, CUT).join('')}…`
}

/**
 * Whether an address may be the target of a link.
 *
 * @param {string} href
 */
export function isWeb(href) {
  return URL.canParse(href, location.href) && /^https?:$/.test(new URL(href, location.href).protocol)
}
