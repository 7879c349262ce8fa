/**
 * The text of a control for the value of a property; empty for no value.
 *
 * @param {any} property
 * @returns {string}
 */
export function initialText({ format, value }) {
  if (value === undefined || value === null) return ''
  if (format === 'date-time') return localTime(new Date(value))
  if (format === 'object')
    return Object.entries(value)
      .map(([name, one]) => `${name}: ${one}`)
      .join('\n')
  return String(value)
}

/** As `datetime-local` has it: in the zone of the browser, to the millisecond. */
function localTime(/** @type {Date} */ date) {
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return shifted.toISOString().replace(/(:00)?\.000Z$|Z$/, '')
}

/**
 * The value that a text stands for; undefined for none.
 *
 * @param {any} property
 * @param {string} text
 */
function valueFrom({ type, format, options }, text) {
  if (text === '') return undefined
  if (type === 'number') return Number(text)
  if (format === 'date-time') return new Date(text).toISOString()
  if (format === 'object') return membersOf(text)
  const chosen = options?.inline?.find((/** @type {any} */ one) => String(one.value) === text)
  return chosen ? chosen.value : text
}

/** One member in each line: `name: 0.5`. */
function membersOf(/** @type {string} */ text) {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const end = line.lastIndexOf(':')
      return [line.slice(0, end).trim(), Number(line.slice(end + 1))]
    }),
  )
}

/**
 * What is wrong with a text before it is sent, in the form of the details of an error. The service checks the rest.
 *
 * @param {any} property
 * @param {string} text
 * @returns {{ field: string, message: string }[]}
 */
export function problemIn({ name, prompt, type, format, required }, text) {
  if (required && text.trim() === '') return [{ field: name, message: `${prompt} is required.` }]
  if (type === 'number' && text !== '' && !Number.isFinite(Number(text)))
    return [{ field: name, message: `${prompt} must be a number.` }]
  const isMember = (/** @type {string} */ line) =>
    line.trim() === '' || /^.*\S.*:\s*[\d.eE+-]+\s*$/.test(line)
  if (format === 'object' && !text.split('\n').every(isMember))
    return [{ field: name, message: 'Each line is a name, a colon and a number.' }]
  return []
}

/**
 * The body of a new resource: every value that is set.
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
 * A merge patch (RFC 7396): the values that differ from the initial ones, null for those that were removed.
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
    const removed =
      property.format === 'object' && value !== null
        ? Object.keys(property.value ?? {}).filter((name) => !(name in value))
        : []
    const merged =
      removed.length > 0 ? { ...value, ...Object.fromEntries(removed.map((name) => [name, null])) } : value
    setAt(body, property.name, merged)
  }
  return body
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
