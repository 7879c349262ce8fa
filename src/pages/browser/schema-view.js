import { html, useState } from './htm.js'

/**
 * A part that is rendered when it is opened.
 *
 * @param {{ title: unknown, content: () => unknown, isOpen?: boolean, style?: string, id?: string }} properties
 */
export function Lazy({ title, content, isOpen = false, style = '', id }) {
  const [isRendered, setRendered] = useState(false)
  const toggle = (/** @type {any} */ { currentTarget }) => currentTarget.open && setRendered(true)
  return html`<details class=${style} id=${id} open=${isOpen} onToggle=${toggle}>
    <summary>${title}</summary>
    ${isRendered || isOpen ? content() : null}
  </details>`
}

/** A text of the document, with code between backticks. @param {{ text: string | undefined }} properties */
export function Formatted({ text = '' }) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))
}

/**
 * A part of the document, or the component that it refers to.
 *
 * @param {any} part
 * @param {any} description the OpenAPI document
 * @returns {any}
 */
export function referred(part, description) {
  if (!part.$ref) return part
  const [, ...path] = part.$ref.split('/')
  return path.reduce((/** @type {any} */ at, /** @type {string} */ name) => at[name], description)
}

/**
 * A schema with everything it refers to resolved, and what it extends merged.
 *
 * @param {any} schema
 * @param {any} description the OpenAPI document
 * @returns {any}
 */
function resolved(schema, description) {
  if (schema.$ref) return resolved(referred(schema, description), description)
  const parts = (schema.allOf ?? []).map((/** @type {any} */ part) => resolved(part, description))
  const merge = (/** @type {any} */ one, /** @type {any} */ other) => ({
    ...one,
    ...other,
    properties: { ...one.properties, ...other.properties },
    required: [...(one.required ?? []), ...(other.required ?? [])],
  })
  return parts.length > 0 ? [...parts, schema].reduce(merge) : schema
}

/**
 * The members of an object, or of the objects in a list. The required ones come first.
 *
 * @param {{ schema: any, description: any }} properties
 */
export function SchemaView({ schema, description }) {
  const { properties = {}, required = [] } = resolved(schema, description)
  const isRequired = (/** @type {string} */ name) => required.includes(name)
  const names = Object.keys(properties).sort(
    (one, other) => Number(isRequired(other)) - Number(isRequired(one)),
  )
  return html`<ul class="members">
    ${names.map((name) => html`<${Member} key=${name} ...${{ name, schema: properties[name], description, isRequired: isRequired(name) }} />`)}
  </ul>`
}

/** @param {{ name: string, schema: any, description: any, isRequired: boolean }} properties */
function Member({ name, schema, description, isRequired }) {
  const own = resolved(schema, description)
  const inner = own.items ? resolved(own.items, description) : own
  const about = html`<code>${name}</code> <span class="note">${typeOf(own, inner)}${isRequired ? ', required' : ''}</span>`
  if (!inner.properties) return html`<li>${about} <${Formatted} text=${own.description} /></li>`
  const content = () => html`<${SchemaView} schema=${inner} description=${description} />`
  return html`<li><${Lazy} title=${about} content=${content} /></li>`
}

/** Of more choices, only the number is named. */
const LONG = 10

/**
 * Words for the values of a schema: `string, at most 500 characters`.
 *
 * @param {any} schema
 * @param {any} [items] the resolved schema of the items of a list
 */
export function typeOf(schema, items = schema.items) {
  const { type, format, minimum, maximum, maxLength, 'x-unit': unit } = schema
  const choices = (items ?? schema).enum ?? schema.enum
  const types = [type ?? []].flat().filter((one) => one !== 'null')
  return [
    types.includes('array') ? `list of ${items?.type ?? 'value'}s` : types.join(' or '),
    format,
    minimum !== undefined && `at least ${minimum}`,
    maximum !== undefined && `at most ${maximum}`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    unit && `in ${unit}`,
    choices &&
      (choices.length > LONG
        ? `one of ${choices.length} values`
        : `one of ${choices.filter((/** @type {unknown} */ one) => one !== null).join(', ')}`),
  ]
    .filter(Boolean)
    .join(', ')
}
