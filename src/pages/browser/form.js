import { changedBody, initialText, isContested, newBody, problemIn } from './form-values.js'
import { html, useEffect, useRef, useState } from './htm.js'
import { Picker } from './picker.js'
import { send } from './session.js'
import { itemsOf, leavesOf, titleOf, valueAt } from './values.js'

/** Number of items that a choice offers. */
const CHOICES = 100

/**
 * The form of a HAL-FORMS template. A change is sent with the entity tag on which it is based. If the resource has
 * changed since, both states are shown side by side. A new resource never replaces an existing one.
 *
 * @param {{ template: any, profile?: any, etag?: string | null, isNew?: boolean, onCancel: () => void,
 *   onDone: (answer: import('./session.js').Answer) => void }} properties
 */
export function TemplateForm({ template, profile, etag, isNew, onCancel, onDone }) {
  const properties = template.properties.filter((/** @type {any} */ property) => !property.readOnly)
  /** @returns {Record<string, string>} */
  const initial = () =>
    Object.fromEntries(properties.map((/** @type {any} */ one) => [one.name, initialText(one)]))
  const [texts, setTexts] = useState(initial)
  const [error, setError] = useState(/** @type {any} */ (undefined))
  const [conflict, setConflict] = useState(/** @type {any} */ (undefined))
  const form = useRef(/** @type {any} */ (null))
  const isPatch = template.method === 'PATCH'
  const isPost = template.method === 'POST'
  const descriptions = new Map(
    leavesOf(profile?.schema).map(([name, { description }]) => [name, description]),
  )

  useEffect(() => {
    const opener = /** @type {HTMLElement | null} */ (document.activeElement)
    form.current?.querySelector('input, select, textarea')?.focus()
    return () => opener?.focus()
  }, [])
  useEffect(() => {
    form.current?.querySelector('[aria-invalid=true], [role=alert]')?.focus()
  }, [error])

  const submit = async (/** @type {string | null | undefined} */ tag) => {
    const problems = properties.flatMap((/** @type {any} */ one) => problemIn(one, texts[one.name] ?? ''))
    if (problems.length > 0) return setError({ message: 'Some values are not valid.', details: problems })
    const body = isPatch ? changedBody(properties, texts) : newBody(properties, texts)
    const headers = new Headers({ 'Content-Type': template.contentType })
    if (tag) headers.set('If-Match', tag)
    else if (isNew && !isPost) headers.set('If-None-Match', '*')
    const answer = await send(template.target, { method: template.method, body, headers })
    if (answer.status < 400) return onDone(answer)
    const failure = answer.body?.error ?? {
      message: `The response has the status ${answer.status}.`,
      details: [],
    }
    setError(failure)
    if (failure.code !== 'CONCURRENT_MODIFICATION') return setConflict(undefined)
    setConflict(await send(template.target))
  }
  const onSubmit = (/** @type {Event} */ event) => {
    event.preventDefault()
    void submit(etag)
  }
  const details = /** @type {any[]} */ (error?.details ?? [])
  const elsewhere = details.filter(
    ({ field }) => !properties.some((/** @type {any} */ one) => one.name === field),
  )

  return html`<form class="template" ref=${form} onSubmit=${onSubmit} noValidate aria-label=${template.title}>
    <h2>${template.title}</h2>
    ${
      error &&
      html`<div role="alert" tabindex="-1" class="error">
      <p>${error.message}</p>
      ${elsewhere.length > 0 && html`<ul>${elsewhere.map(({ message }) => html`<li>${message}</li>`)}</ul>`}
    </div>`
    }
    ${
      conflict &&
      html`<${Conflict} ...${{ properties, texts, conflict }}
      onMine=${() => void submit(conflict.headers.get('ETag'))} onTheirs=${() => onDone(conflict)} />`
    }
    ${properties.map(
      (/** @type {any} */ property) => html`<${Field} key=${property.name} property=${property}
      value=${texts[property.name]} hint=${hintFor(property, descriptions)}
      problem=${details.find(({ field }) => field === property.name)?.message}
      onChange=${(/** @type {string} */ value) => setTexts({ ...texts, [property.name]: value })} />`,
    )}
    <div class="actions">
      <button type="submit" class="main">${isPost ? 'Create' : 'Save'}</button>
      <button type="button" onClick=${onCancel}>Cancel</button>
    </div>
  </form>`
}

/**
 * What the label does not say already.
 *
 * @param {any} property
 * @param {Map<string, string>} descriptions
 */
function hintFor({ name, prompt }, descriptions) {
  const hint = descriptions.get(name)
  const isRepeated = prompt.toLowerCase().endsWith(hint?.toLowerCase().replace(/\.$/, ''))
  return isRepeated ? undefined : hint
}

/** @param {any} properties */
function Field({ property, value, hint, problem, onChange }) {
  const id = `field-${property.name}`
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  const attributes = {
    id,
    name: property.name,
    value,
    'aria-describedby': described || undefined,
    'aria-invalid': problem ? 'true' : undefined,
    'aria-required': property.required ? 'true' : undefined,
    onInput: (/** @type {any} */ event) => onChange(event.target.value),
  }
  return html`<div class="field">
    <label for=${id}>${property.prompt}${property.required && html`<span class="required"> (required)</span>`}</label>
    <${Control} property=${property} attributes=${attributes} onChange=${onChange} />
    ${hint && html`<span class="note" id=${`${id}-hint`}>${hint}${property.format === 'date-time' && ' In UTC.'}</span>`}
    ${problem && html`<span class="error" id=${`${id}-problem`}>${problem}</span>`}
  </div>`
}

/** @param {{ property: any, attributes: any, onChange: (value: string) => void }} properties */
function Control({ property, attributes, onChange }) {
  const { type, format, options, min, max, step, maxLength, placeholder } = property
  if (options?.link)
    return html`<${ReferenceControl} property=${property} attributes=${attributes} onChange=${onChange} />`
  if (options?.inline) {
    const choices = options.inline.map((/** @type {any} */ one) =>
      typeof one === 'string' ? { prompt: one, value: one } : one,
    )
    return html`<${Choices} ...${{ choices, attributes }} isOptional=${options.minItems !== 1 || attributes.value === ''} />`
  }
  if (format === 'object')
    return html`<textarea rows="4" placeholder="name: 0.5" ...${attributes}></textarea>`
  if (format === 'json')
    return html`<textarea rows="6" placeholder=${placeholder} spellcheck=${false} ...${attributes}></textarea>`
  if (type === 'textarea') return html`<textarea rows="4" maxlength=${maxLength} ...${attributes}></textarea>`
  if (type === 'number')
    return html`<input type="number" inputmode="decimal" min=${min} max=${max} step=${step ?? 'any'} ...${attributes} />`
  if (type === 'date') return html`<input type="date" ...${attributes} />`
  if (format === 'date-time') return html`<input type="datetime-local" step="0.001" ...${attributes} />`
  return html`<input type=${type === 'email' || type === 'url' ? type : 'text'} maxlength=${maxLength} placeholder=${placeholder} autocomplete="off" ...${attributes} />`
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

/** The changed values of the form that differ from the stored ones, beside those. */
function Conflict(/** @type {any} */ { properties, texts, conflict, onMine, onTheirs }) {
  const stored = (/** @type {any} */ { name }) => valueAt(conflict.body, name)
  const differing = properties.filter((/** @type {any} */ one) =>
    isContested(one, texts[one.name] ?? '', stored(one)),
  )
  return html`<section class="conflict" aria-label="Conflict">
    <p>The resource was changed after you opened this form${differing.length === 0 && ' and already has your values'}.</p>
    ${
      differing.length > 0 &&
      html`<div class="scroll" tabindex="0" role="region" aria-label="Differences"><table>
      <thead><tr><th scope="col">Field</th><th scope="col">In this form</th><th scope="col">Stored now</th></tr></thead>
      <tbody>${differing.map(
        (/** @type {any} */ one) => html`<tr>
        <th scope="row">${one.prompt}</th><td>${texts[one.name] || '–'}</td><td>${initialText({ ...one, value: stored(one) }) || '–'}</td>
      </tr>`,
      )}</tbody>
    </table></div>`
    }
    <div class="actions">
      <button type="button" onClick=${onMine}>Save my changes anyway</button>
      <button type="button" onClick=${onTheirs}>Discard my changes</button>
    </div>
  </section>`
}
