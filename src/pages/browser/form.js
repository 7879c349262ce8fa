import { Field } from './controls.js'
import { ErrorDetails, inLabels, messageOf } from './failure.js'
import { changedBody, initialText, isContested, newBody, problemIn, valueFrom } from './form-values.js'
import { html, useEffect, useRef, useState } from './htm.js'
import { useNames } from './names.js'
import { send } from './session.js'
import { fieldLabel, isNumeric, leavesOf, Value, valueAt } from './values.js'

/**
 * The form of a HAL-FORMS template. A change is sent with the entity tag on which it is based. If the resource has
 * changed since, both states are shown side by side. A new resource never replaces an existing one.
 *
 * @param {{ template: any, profile?: any, etag?: string | null, isNew?: boolean, onCancel: () => void,
 *   onDone: (answer: import('./session.js').Answer) => void,
 *   sendBody?: (body: object) => Promise<import('./session.js').Answer> }} properties sendBody: to another place than its own
 */
export function TemplateForm({ template, profile, etag, isNew, onCancel, onDone, sendBody }) {
  const schemas = new Map(leavesOf(profile?.schema))
  const properties = template.properties
    .filter((/** @type {any} */ { readOnly }) => !readOnly)
    .map((/** @type {any} */ one) => ({
      ...one,
      items: schemas.get(one.name)?.items,
      isNumber: one.type === 'number' || isNumeric(schemas.get(one.name)),
      // Templates of a change require nothing, but a required value cannot be removed.
      required: one.required ?? profile?.input.required?.includes(one.name),
    }))
  /** @returns {Record<string, string>} */
  const initial = () =>
    Object.fromEntries(properties.map((/** @type {any} */ one) => [one.name, initialText(one)]))
  const [texts, setTexts] = useState(initial)
  const [error, setError] = useState(/** @type {any} */ (undefined))
  const [conflict, setConflict] = useState(/** @type {any} */ (undefined))
  const form = useRef(/** @type {any} */ (null))
  const isPatch = template.method === 'PATCH'
  const isPost = template.method === 'POST'
  const isChanged = properties.some((/** @type {any} */ one) => texts[one.name] !== initialText(one))
  const leave = useWarning(isChanged)

  useEffect(() => {
    const opener = /** @type {HTMLElement | null} */ (document.activeElement)
    form.current?.querySelector('input, select, textarea')?.focus()
    return () => opener?.focus()
  }, [])
  useEffect(() => {
    form.current?.querySelector('[aria-invalid=true], [role=alert]')?.focus()
  }, [error])

  const submit = async (/** @type {string | null | undefined} */ tag) => {
    const problems = properties.flatMap((/** @type {any} */ one) =>
      problemIn(one, texts[one.name] ?? '', isPatch),
    )
    if (problems.length > 0) return setError({ details: problems })
    const body = isPatch ? changedBody(properties, texts) : newBody(properties, texts)
    const headers = new Headers({ 'Content-Type': template.contentType })
    if (tag) headers.set('If-Match', tag)
    else if (isNew && !isPost) headers.set('If-None-Match', '*')
    const answer = await (sendBody?.(body) ??
      send(template.target, { method: template.method, body, headers }))
    if (answer.status < 400) return leave(() => onDone(answer))
    const failure = { details: [], ...answer.body?.error, message: messageOf(answer.status, answer.body) }
    if (failure.code !== 'CONCURRENT_MODIFICATION') {
      setError(failure)
      return setConflict(undefined)
    }
    setError({ ...failure, message: 'Nothing was saved: it was changed after you opened this form.' })
    setConflict(await send(template.target))
  }
  const onSubmit = (/** @type {Event} */ event) => {
    event.preventDefault()
    void submit(etag)
  }
  const cancel = () => {
    if (!isChanged || confirm('Discard the changes in this form?')) leave(onCancel)
  }
  const details = /** @type {any[]} */ (error?.details ?? [])
  const field = (/** @type {any} */ property, /** @type {string} */ prompt) => {
    const problem = details.find(({ field }) => field === property.name)?.message
    return html`<${Field} key=${property.name} property=${{ ...property, prompt }} value=${texts[property.name]}
      hint=${hintFor(property, schemas)} problem=${problem && inLabels(problem, properties)}
      onChange=${(/** @type {string} */ value) => setTexts({ ...texts, [property.name]: value })} />`
  }

  return html`<form class="template" ref=${form} onSubmit=${onSubmit} noValidate aria-label=${template.title}>
    <h2>${template.title}</h2>
    ${error && html`<${Problems} ...${{ error, properties }} />`}
    ${
      conflict &&
      html`<${Conflict} key=${conflict.headers.get('ETag')} ...${{ properties, texts, conflict, profile, schemas }}
      onMine=${() => void submit(conflict.headers.get('ETag'))} onTheirs=${() => leave(() => onDone(conflict))} />`
    }
    ${sectionsOf(properties).map(({ group, members }) => {
      if (group === undefined) return members.map((one) => field(one, one.prompt))
      const legend = fieldLabel(group, profile?.schema?.properties[group])
      return html`<fieldset key=${group}>
        <legend>${legend}</legend>
        ${members.map((one) => field(one, one.prompt.replace(`${legend}: `, '')))}
      </fieldset>`
    })}
    <div class="actions">
      <button type="submit" class="main">${isPost ? 'Create' : 'Save'}</button>
      <button type="button" onClick=${cancel}>Cancel</button>
    </div>
  </form>`
}

/**
 * Asks before a page with a changed form is left.
 *
 * @param {boolean} isChanged
 * @returns {(go: () => void) => void} leaves without asking
 */
function useWarning(isChanged) {
  const isLeaving = useRef(false)
  useEffect(() => {
    if (!isChanged) return undefined
    const ask = (/** @type {Event} */ event) => {
      if (!isLeaving.current) event.preventDefault()
    }
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isChanged])
  return (go) => {
    isLeaving.current = true
    go()
  }
}

/** The properties in order, with the members of each object together. @param {any[]} properties */
function sectionsOf(properties) {
  const sections = /** @type {{ group: string | undefined, members: any[] }[]} */ ([])
  for (const property of properties) {
    const group = property.name.includes('.') ? property.name.split('.')[0] : undefined
    const last = sections.at(-1)
    if (last && last.group === group) last.members.push(property)
    else sections.push({ group, members: [property] })
  }
  return sections
}

/** What is not beside the fields. */
function Problems(/** @type {{ error: any, properties: any[] }} */ { error, properties }) {
  const { message, details = [] } = error
  const elsewhere = details.filter(
    (/** @type {any} */ { field }) => !properties.some(({ name }) => name === field),
  )
  const isBesideFields = details.length > 0 && elsewhere.length === 0
  const others = elsewhere.filter((/** @type {any} */ one) => one.message !== message)
  return html`<div role="alert" tabindex="-1">
    <p class="error">${isBesideFields ? 'Some values are not valid: see the marked fields.' : inLabels(message, properties)}</p>
    ${others.length > 0 && html`<ul>${others.map((/** @type {any} */ one) => html`<li>${inLabels(one.message, properties)}</li>`)}</ul>`}
    <${ErrorDetails} error=${error} />
  </div>`
}

/**
 * What the label does not say already.
 *
 * @param {any} property
 * @param {Map<string, any>} schemas
 */
function hintFor({ name }, schemas) {
  const { title = '', description } = schemas.get(name) ?? {}
  const isRepeated = title.toLowerCase().endsWith(description?.toLowerCase().replace(/\.$/, ''))
  return isRepeated ? undefined : description
}

/** The changed values of the form that differ from the stored ones, beside those. */
function Conflict(/** @type {any} */ { properties, texts, conflict, profile, schemas, onMine, onTheirs }) {
  const stored = (/** @type {any} */ { name }) => valueAt(conflict.body, name)
  const nameOf = useNames(profile?.references ?? {}, (name) => [texts[name], valueAt(conflict.body, name)])
  const cell = (/** @type {string} */ name, /** @type {unknown} */ value) =>
    html`<td><${Value} value=${value} schema=${schemas.get(name)} name=${nameOf(name, value)?.name} /></td>`
  const differing = properties.filter((/** @type {any} */ one) =>
    isContested(one, texts[one.name] ?? '', stored(one)),
  )
  return html`<section class="conflict" aria-label="Conflict">
    ${differing.length === 0 && html`<p>It already has your values.</p>`}
    ${
      differing.length > 0 &&
      html`<div class="scroll" tabindex="0" role="region" aria-label="Differences"><table>
      <thead><tr><th scope="col">Field</th><th scope="col">In this form</th><th scope="col">Stored now</th></tr></thead>
      <tbody>${differing.map(
        (/** @type {any} */ one) => html`<tr>
        <th scope="row">${one.prompt}</th>${cell(one.name, valueFrom(one, texts[one.name]))}${cell(one.name, stored(one))}
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
