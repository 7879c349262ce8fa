import { messageOf } from './failure.js'
import { html, useEffect, useRef, useState } from './htm.js'
import { passFocus, send } from './session.js'
import { fieldLabel, label, leavesOf, Value, valueAt } from './values.js'

/** It differs between all versions. */
const UNINTERESTING = 'last_updated'

/**
 * The versions of a resource, or one of them: who made it and when, what changed, and a way back to it.
 *
 * @param {{ body: any, profile: any }} properties
 */
export function HistoryView({ body, profile }) {
  const [versions, setVersions] = useState(/** @type {any[]} */ (body._embedded?.versions ?? [body]))
  const [next, setNext] = useState(/** @type {string | undefined} */ (body._links.next?.href))
  const [current, setCurrent] = useState(/** @type {any} */ (undefined))
  const { href } = body._links.resource
  useEffect(() => {
    void send(href).then(setCurrent)
  }, [href])
  const showOlder = async () => {
    const older = await send(/** @type {string} */ (next))
    if (older.status >= 400) return
    setVersions([...versions, ...older.body._embedded.versions])
    setNext(older.body._links.next?.href)
  }
  const isDeleted = current?.status === 410
  return html`
    <div class="actions">
      <a href=${href}>${isDeleted ? 'The deleted resource' : 'The resource as it is now'}</a>
      ${!body._embedded && html`<a href=${`${href}/versions`}>All versions</a>`}
    </div>
    ${isDeleted && html`<p class="note">The resource was deleted.${profile?.patch ? ' Restoring a version creates it again.' : ''}</p>`}
    <ol class="history">${versions.map((version, index) => {
      const older = versions.slice(index + 1).find((one) => one.resource)
      return html`<li key=${`${version.event} ${version.version}`}>
        <${Version} ...${{ version, older, profile, current, isKnown: older !== undefined || !next, isAlone: !body._embedded }} />
      </li>`
    })}</ol>
    ${next && html`<button type="button" onClick=${showOlder}>Show older versions</button>`}`
}

/**
 * A page of the feed of changes, and the link to the next one.
 *
 * @param {{ body: any }} properties
 */
export function ChangesView({ body: { _embedded: embedded, _links: links, has_more: hasMore } }) {
  const changes = /** @type {any[]} */ (embedded.changes)
  return html`
    ${changes.length === 0 && html`<p class="empty">${hasMore ? 'There are more changes.' : 'There are no newer changes.'}</p>`}
    ${
      changes.length > 0 &&
      html`<div class="scroll" tabindex="0" role="region" aria-label="Changes">
      <table>
        <thead><tr>${['Resource', 'Collection', 'Event', 'Version', 'Time', 'By'].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
        <tbody>${changes.map(
          ({ id, collection, event, version, time, by, _links: { resource } }) => html`<tr>
          <th scope="row"><a href=${resource.href}>${id}</a></th>
          <td>${label(collection)}</td>
          <td>${EVENTS[event]}</td>
          <td><a href=${`${resource.href}/versions/${version}`}>${version}</a></td>
          <td><${Value} value=${time} schema=${{ format: 'date-time' }} /></td>
          <td>${by}</td>
        </tr>`,
        )}</tbody>
      </table>
    </div>`
    }
    <nav class="paging" aria-label="Pages"><a href=${links.next.href} rel="next">${hasMore ? 'More changes' : 'Look for newer changes'}</a></nav>`
}

/** @type {Record<string, string>} */
const EVENTS = { created: 'Created', changed: 'Changed', deleted: 'Deleted' }

/**
 * @param {{ version: any, older: any, profile: any, current: any, isKnown: boolean, isAlone: boolean }} properties
 *   isKnown: whether `older` is the version before, if there is one
 */
function Version({ version, older, profile, current, isKnown, isAlone }) {
  const { event, time, by, resource } = version
  const isNow = current?.status === 200 && differences(current.body, resource, profile).length === 0
  // Without a current state, there are no templates that say what the token permits.
  const mayRestore = profile?.patch && (current?.body?._templates?.default || current?.status === 410)
  return html`<div class="heading">
      <h2>${EVENTS[event] ?? 'Before the recorded history'}</h2>
      <span class="note">Version ${version.version}${isNow ? ', current' : ''}</span>
    </div>
    <p><${Value} value=${time} schema=${{ format: 'date-time' }} />${by && html` by <span class="author">${by}</span>`}</p>
    ${
      resource &&
      html`
      ${event === 'changed' && !isAlone && isKnown && older && html`<${Differences} ...${{ from: older, to: version, profile }} />`}
      <details open=${isAlone}>
        <summary>All fields</summary>
        <${Differences} ...${{ to: version, profile }} />
      </details>
      ${mayRestore && !isNow && html`<${Restoring} ...${{ version, current }} />`}`
    }`
}

/**
 * The fields that two versions differ in, or all that are set in one.
 *
 * @param {{ from?: any, to: any, profile: any }} properties
 */
function Differences({ from, to, profile }) {
  const rows = differences(from?.resource, to.resource, profile).filter(({ name }) => name !== UNINTERESTING)
  if (rows.length === 0) return html`<p class="note">None of the fields shown here differ.</p>`
  const caption = from ? `Changes since version ${from.version}` : `Fields of version ${to.version}`
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}>
    <table class="differences">
      <thead><tr><th scope="col">Field</th>${from && html`<th scope="col">Before</th>`}<th scope="col">${from ? 'After' : 'Value'}</th></tr></thead>
      <tbody>${rows.map(
        ({ name, schema, before, after }) => html`<tr>
        <th scope="row">${fieldLabel(name, schema)}</th>
        ${from && html`<td><${Value} value=${before} schema=${schema} /></td>`}
        <td><${Value} value=${after} schema=${schema} /></td>
      </tr>`,
      )}</tbody>
    </table>
  </div>`
}

/** @param {any} from @param {any} to @param {any} profile */
function differences(from, to, profile) {
  return leavesOf(profile?.schema)
    .filter(([name]) => name !== '_links')
    .map(([name, schema]) => ({ name, schema, before: valueAt(from, name), after: valueAt(to, name) }))
    .filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after))
}

/**
 * Restores a version: a PUT of its fields, of the state that this page knows, or only where there is none.
 *
 * @param {{ version: any, current: any }} properties
 */
function Restoring({ version, current }) {
  const dialog = useRef(/** @type {any} */ (null))
  const [problem, setProblem] = useState('')
  const { href } = version._links.resource
  const etag = current.headers.get('ETag')
  const headers = {
    ...(etag ? { 'If-Match': etag } : { 'If-None-Match': '*' }),
    Prefer: 'handling=lenient',
    'Content-Type': 'application/json',
  }
  const restore = async () => {
    const { status, body } = await send(href, { method: 'PUT', headers, body: version.resource })
    if (status < 400) {
      passFocus()
      return location.assign(href)
    }
    setProblem(messageOf(status, body))
  }
  const title = `Restore version ${version.version}`
  return html`<button type="button" aria-label=${title} onClick=${() => dialog.current.showModal()}>Restore</button>
    <dialog ref=${dialog} aria-label=${title}>
      <h2>${title}?</h2>
      <p>${etag ? 'The current state stays in the history.' : 'This creates the resource again.'}</p>
      ${problem && html`<p role="alert" class="error">${problem}</p>`}
      <div class="actions">
        <button type="button" class="main" onClick=${restore}>Restore</button>
        <button type="button" autofocus onClick=${() => dialog.current.close()}>Cancel</button>
      </div>
    </dialog>`
}
