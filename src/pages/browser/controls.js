import { html, useEffect, useState } from './htm.js'
import { Picker } from './picker.js'
import { send } from './session.js'
import { itemsOf, textOf, titleOf, writtenNumber } from './values.js'

/** Number of items that a choice offers. */
const CHOICES = 100

const ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone

/**
 * The control of a property with its label, hint and problem.
 *
 * @param {{ property: any, value: string, hint?: string | undefined, problem?: string | undefined,
 *   onChange: (value: string) => void }} properties
 */
export function Field({ property, value, hint, problem, onChange }) {
  const { name, prompt, required, format, items } = property
  const id = `field-${name}`
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  const attributes = {
    id,
    name,
    value,
    'aria-describedby': described || undefined,
    'aria-invalid': problem ? 'true' : undefined,
    'aria-required': required ? 'true' : undefined,
    onInput: (/** @type {any} */ event) => onChange(event.target.value),
  }
  const mark = required && html`<span class="required"> (required)</span>`
  const notes = html`
    ${hint && html`<span class="note" id=${`${id}-hint`}>${hint}${format === 'date-time' && ` In your time zone, ${ZONE}.`}</span>`}
    ${problem && html`<span class="error" id=${`${id}-problem`}>${problem}</span>`}`
  if (items?.enum)
    return html`<fieldset class="field" id=${id} aria-describedby=${described || undefined}>
      <legend>${prompt}${mark}</legend>
      <${Boxes} ...${{ items, value, onChange }} />${notes}
    </fieldset>`
  return html`<div class="field">
    <label for=${id}>${prompt}${mark}</label>
    <${Control} property=${property} attributes=${attributes} onChange=${onChange} />${notes}
  </div>`
}

/** Check boxes for a list of some of a few values, which its text has on a line each. */
function Boxes(
  /** @type {{ items: any, value: string, onChange: (value: string) => void }} */ { items, value, onChange },
) {
  const checked = value.split('\n').filter(Boolean)
  const toggle = (/** @type {string} */ one) =>
    onChange(
      (checked.includes(one) ? checked.filter((other) => other !== one) : [...checked, one]).join('\n'),
    )
  return html`<div class="boxes">${items.enum.map(
    (/** @type {string} */ one) => html`<label>
      <input type="checkbox" checked=${checked.includes(one)} onChange=${() => toggle(one)} /> ${textOf(one, items)}
    </label>`,
  )}</div>`
}

/** @param {{ property: any, attributes: any, onChange: (value: string) => void }} properties */
function Control({ property, attributes, onChange }) {
  const { type, format, items, options, maxLength, placeholder, isNumber } = property
  if (options?.link)
    return html`<${ReferenceControl} property=${property} attributes=${attributes} onChange=${onChange} />`
  if (options?.inline) {
    const choices = options.inline.map((/** @type {any} */ one) =>
      typeof one === 'string' ? { prompt: one, value: one } : one,
    )
    return html`<${Choices} ...${{ choices, attributes }} isOptional=${options.minItems !== 1 || attributes.value === ''} />`
  }
  if (type === 'textarea') {
    const form = items
      ? 'One item on each line'
      : format === 'object'
        ? `name: ${writtenNumber(0.5)}`
        : placeholder
    return html`<textarea rows="4" maxlength=${maxLength} placeholder=${form} spellcheck=${format !== 'json'} dir="auto" ...${attributes}></textarea>`
  }
  // A control of the type number would refuse what the rest of the page shows.
  if (isNumber)
    return html`<input type="text" inputmode="decimal" autocomplete="off" placeholder=${placeholder && writtenNumber(placeholder)} ...${attributes} />`
  if (type === 'date') return html`<input type="date" ...${attributes} />`
  // Seconds and their parts are shown only where the value has them.
  if (format === 'date-time')
    return html`<input type="datetime-local" step=${attributes.value.length > 16 ? '0.001' : undefined} ...${attributes} />`
  return html`<input type=${type} maxlength=${maxLength} placeholder=${placeholder} autocomplete="off" dir="auto" ...${attributes} />`
}

/** @param {any} properties */
function Choices({ choices, attributes, isOptional }) {
  return html`<select ...${attributes}>
    ${isOptional && html`<option value=""></option>`}
    ${choices.map(
      (/** @type {any} */ { prompt, value }) =>
        html`<option value=${String(value)} selected=${String(value) === attributes.value}>${prompt}</option>`,
    )}
  </select>`
}

/** A choice from the list of the reference, which is searched if it is long. */
function ReferenceControl(/** @type {any} */ { property: { options }, attributes, onChange }) {
  const [list, setList] = useState(/** @type {any} */ (undefined))
  useEffect(() => {
    const load = async () => {
      const { status, body } = await send(
        `${options.link.href}?limit=${CHOICES}&sort=${options.promptField}:asc`,
      )
      if (status === 200) setList(body)
    }
    void load()
  }, [options.link.href])
  const items = itemsOf(list) ?? []
  const choices = items.map((item) => ({
    prompt: titleOf(item, options.promptField),
    value: item[options.valueField],
  }))
  const isKnown = attributes.value === '' || choices.some(({ value }) => value === attributes.value)
  if (list && !list.has_more && isKnown)
    return html`<${Choices} choices=${choices} attributes=${attributes} isOptional=${true} />`
  return html`<${Picker} options=${options} attributes=${attributes} onChange=${onChange} />`
}
