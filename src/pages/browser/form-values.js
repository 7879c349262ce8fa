import { digitsIn, isNumeric, writtenNumber } from './values.js'

/**
 * The text of a control for the value of a property; empty for no value.
 *
 * @param {any} property
 * @returns {string}
 */
export function initialText({ format, items, value, isNumber }) {
  if (value === undefined || value === null) return ''
  if (format === 'date-time') return localText(new Date(value))
  if (isNumber) return writtenNumber(value)
  if (items)
    return value
      .map((/** @type {unknown} */ one) => (isNumeric(items) ? writtenNumber(one) : lineText(String(one))))
      .join('\n')
  if (format === 'object')
    return Object.entries(value)
      .map(([name, one]) => `${lineText(name)}: ${writtenNumber(one)}`)
      .join('\n')
  return format === 'json' ? JSON.stringify(value, null, 2) : String(value)
}

/** The value of a control for local times. */
function localText(/** @type {Date} */ time) {
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000)
  return local.toISOString().replace(/(:00)?\.000Z$|Z$/, '')
}

/** A name or an item on its line, as a JSON string if it would otherwise be read as another one. */
function lineText(/** @type {string} */ text) {
  return text === text.trim() && /^[^"\p{Cc}][^\p{Cc}]*$/u.test(text) ? text : JSON.stringify(text)
}

/** The lines of a text that are not blank. */
function linesOf(/** @type {string} */ text) {
  return text.split('\n').filter((line) => line.trim() !== '')
}

/**
 * The value of a text; undefined for an empty one.
 *
 * @param {any} property
 * @param {string} text
 */
export function valueFrom({ type, format, items, options, required, isNumber }, text) {
  if (items)
    return text.trim() === '' && !required ? undefined : linesOf(text).map((line) => itemFrom(items, line))
  if (text === '' || ((isNumber || format === 'object' || format === 'json') && text.trim() === ''))
    return undefined
  if (isNumber) return type === 'number' ? Number(digitsIn(text)) : (digitsIn(text) ?? text)
  if (format === 'json') return JSON.parse(text)
  if (format === 'date-time') return new Date(text).toISOString()
  if (format === 'object')
    return Object.fromEntries(membersOf(text).flatMap((member) => (member ? [member] : [])))
  const chosen = options?.inline?.find((/** @type {any} */ one) => String(one.value) === text)
  return chosen ? chosen.value : text
}

/** The item on a line; undefined if it is none. @param {any} items their schema @param {string} line */
function itemFrom(items, line) {
  const text = line.trim()
  if (isNumeric(items)) {
    const digits = digitsIn(text)
    if (items.type === 'string') return digits
    return Number.isFinite(Number(digits)) ? Number(digits) : undefined
  }
  try {
    return text.startsWith('"') ? String(JSON.parse(text)) : text
  } catch {
    return undefined
  }
}

/**
 * Parses a member per line: `name: 0.5`, or `" name": 0.5` with a JSON string; undefined for any other line.
 *
 * @param {string} text
 */
function membersOf(text) {
  return linesOf(text).map((line) => {
    const colon = line.lastIndexOf(':')
    const [left, right] = [line.slice(0, Math.max(colon, 0)).trim(), line.slice(colon + 1).trim()]
    const [number, name] = [Number(digitsIn(right)), itemFrom({}, left)]
    if (left === '' || !Number.isFinite(number) || name === undefined) return undefined
    return /** @type {[string, number]} */ ([String(name), number])
  })
}

/**
 * Problems of a text that prevent sending it, as details of an error. The service checks the rest.
 *
 * @param {any} property
 * @param {string} text
 * @param {boolean} isPatch whether it is sent in a merge patch
 * @returns {{ field: string, message: string }[]}
 */
export function problemIn(property, text, isPatch) {
  const { name, prompt, format, items, required, isNumber } = property
  if (items && valueFrom(property, text)?.includes(undefined)) {
    const kind = !isNumeric(items) ? 'that starts with a quote is a JSON string' : 'is a number'
    return [{ field: name, message: `Each line ${kind}.` }]
  }
  if (required && !items && text.trim() === '') return [{ field: name, message: `${prompt} is required.` }]
  if (isNumber && text.trim() !== '' && !Number.isFinite(Number(digitsIn(text))))
    return [{ field: name, message: `${prompt} must be a number.` }]
  if (format === 'json' && !items && !isJson(text))
    return [{ field: name, message: `${prompt} must be JSON.` }]
  if (isPatch && format === 'json' && !items && addsNull(property.value, valueFrom(property, text)))
    return [{ field: name, message: 'A change cannot store null in an object: leave the member out.' }]
  return format === 'object' ? problemInMembers(name, membersOf(text)) : []
}

/**
 * Whether a change makes a member of an object null, which a merge patch would remove.
 *
 * @param {any} before
 * @param {any} after
 * @returns {boolean}
 */
function addsNull(before, after) {
  if (!isObject(after)) return false
  const former = isObject(before) ? before : {}
  return Object.entries(after).some(
    ([name, value]) => !isSame(former[name], value) && (value === null || addsNull(former[name], value)),
  )
}

function isJson(/** @type {string} */ text) {
  try {
    if (text.trim() !== '') JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** @param {string} field @param {([string, number] | undefined)[]} members */
function problemInMembers(field, members) {
  const names = members.map((member) => member?.[0])
  if (names.includes(undefined))
    return [
      { field, message: 'Each line is a name, a colon and a number. A name in quotes is a JSON string.' },
    ]
  const repeated = names.find((name, index) => names.indexOf(name) < index)
  return repeated === undefined
    ? []
    : [{ field, message: `The name ${JSON.stringify(repeated)} is on more than one line.` }]
}

/**
 * The body of a new resource: all values that are set.
 *
 * @param {any[]} properties
 * @param {Record<string, string>} texts
 */
export function newBody(properties, texts) {
  const body = {}
  for (const property of properties) {
    const value = valueFrom(property, texts[property.name] ?? '')
    if (value !== undefined) setAt(body, property.name, value)
  }
  return body
}

/**
 * A merge patch (RFC 7396): values that differ from the initial ones, and null for removed values.
 *
 * @param {any[]} properties
 * @param {Record<string, string>} texts
 */
export function changedBody(properties, texts) {
  const body = {}
  for (const property of properties) {
    const text = texts[property.name] ?? ''
    if (text === initialText(property)) continue
    const value = valueFrom(property, text) ?? null
    setAt(body, property.name, changes(property.value, value))
  }
  return body
}

/**
 * Whether a form would change a value that is stored now.
 *
 * @param {any} property with the value that the form began with
 * @param {string} text
 * @param {unknown} stored
 */
export function isContested(property, text, stored) {
  return text !== initialText(property) && !isSame(valueFrom(property, text), stored)
}

/** @param {any} before @param {any} after @returns {unknown} */
function changes(before, after) {
  if (!isObject(before) || !isObject(after)) return after
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name))
  const changed = Object.entries(after).filter(([name, value]) => !isSame(before[name], value))
  return Object.fromEntries([
    ...removed.map((name) => [name, null]),
    ...changed.map(([name, value]) => [name, changes(before[name], value)]),
  ])
}

function isObject(/** @type {unknown} */ value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @param {unknown} one @param {unknown} other */
function isSame(one, other) {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** @param {any} body @param {string} name dotted @param {unknown} value */
function setAt(body, name, value) {
  const [first = '', ...rest] = name.split('.')
  if (rest.length === 0) body[first] = value
  else {
    body[first] ??= {}
    setAt(body[first], rest.join('.'), value)
  }
}
