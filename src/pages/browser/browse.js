import { FAILURES, Failure } from './failure.js'
import { ChangesView, HistoryView } from './history-view.js'
import { html, render, useEffect, useRef, useState } from './htm.js'
import { ItemView } from './item-view.js'
import { ListView } from './list-view.js'
import { RequestView } from './request-view.js'
import { followChanges, linkIn, passFocus, profileOf, send, shareToken, takesFocus } from './session.js'
import { askForToken } from './session-control.js'
import { isWeb, itemsOf, label, titleOf } from './values.js'

const [url = ''] = location.href.split('#')

/** The resource with the URL of this page. */
function Browse() {
  const [state, setState] = useState(/** @type {any} */ (undefined))
  const [notice, setNotice] = useState(/** @type {import('./session.js').Notice} */ ({}))
  const heading = useRef(/** @type {any} */ (null))
  const load = async () => {
    try {
      const answer = await send(url, { headers: { Prefer: 'graphql-operation' } })
      setState({
        answer,
        profile: answer.status < 400 ? await profileOf(answer) : undefined,
        key: Date.now(),
      })
      if (answer.status === 401) askForToken()
    } catch (error) {
      setState({ failure: String(error) })
    }
  }
  useEffect(() => {
    load()
  }, [])
  useEffect(() => {
    const passed = state?.answer && takesFocus()
    if (!passed) return
    heading.current?.focus()
    setNotice(passed)
  }, [state?.key])
  if (!state) return html`<h1>Loading…</h1>`
  if (state.failure)
    return html`<h1>No response</h1><p role="alert">The service did not respond: ${state.failure}</p>`
  const { answer, profile, key } = state
  const title = answer.status < 400 ? headingOf(answer.body, profile) : (FAILURES[answer.status] ?? 'Error')
  document.title = `${title} – ${document.querySelector('header .name')?.textContent}`
  // Without this element, Preact moves the title behind the request when the form changes.
  return html`<div>
    <h1 tabindex="-1" dir="auto" ref=${heading}>${title}</h1>
    ${notice.text && html`<p class="notice" role="status"><span dir="auto">${notice.text}</span> ${notice.href && isWeb(notice.href) && html`<a href=${notice.href}>Restore it from its history</a>`}</p>`}
    <${Content} key=${key} answer=${answer} profile=${profile} reload=${load} />
    <${RequestView} ...${{ url, answer, path: decoded(location.pathname) }} />
  </div>`
}

/** A readable path; unchanged if it is not percent-encoded UTF-8. */
function decoded(/** @type {string} */ path) {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** @param {any} body @param {any} profile */
function headingOf(body, profile) {
  if (isHistory(body)) return historyTitle(body, profile)
  const segment = decoded(location.pathname.split('/').at(-1) ?? '')
  if (itemsOf(body)) return label(segment)
  return (
    (profile && titleOf(body, profile.name_field)) ??
    (body?._links && !profile ? 'Collections' : label(segment))
  )
}

/** Whether a document is a version of a resource, or a list of them. No field has the name `version`. */
function isHistory(/** @type {any} */ body) {
  return body?._links?.resource && (body._embedded?.versions || 'version' in body)
}

/** @param {any} body @param {any} profile */
function historyTitle({ _embedded: embedded, _links: links, version, resource }, profile) {
  const state = resource ?? embedded.versions.find((/** @type {any} */ one) => one.resource)?.resource
  const named = { id: links.resource.href.split('/').at(-1), ...state, _links: { self: links.resource } }
  const name = titleOf(named, profile?.name_field)
  return embedded ? `${name}: history` : `${name}: version ${version}`
}

/** @param {{ answer: any, profile: any, reload: () => void }} properties */
function Content({ answer, profile, reload }) {
  const { status, body } = answer
  if (status >= 400) return html`<${Failure} answer=${answer} />`
  if (isHistory(body)) return html`<${HistoryView} body=${body} profile=${profile} />`
  if (body?._embedded?.changes) return html`<${ChangesView} body=${body} />`
  if (itemsOf(body))
    return html`<${Updates} answer=${answer} reload=${reload} /><${ListView} body=${body} profile=${profile} />`
  if (profile) return html`<${ItemView} ...${{ answer, profile, reload }} />`
  return html`<${Collections} links=${body?._links ?? {}} />`
}

/**
 * How often the collection has changed since the list was read.
 *
 * @param {{ answer: import('./session.js').Answer, reload: () => void }} properties
 */
function Updates({ answer, reload }) {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const changes = linkIn(answer, 'changes')
    if (!changes || !isWeb(changes)) return undefined
    const feed = new URL(changes)
    // The position of the link may be older than the list, which would tell of changes that it shows.
    feed.searchParams.set('since', 'now')
    return followChanges(feed.href, () => setCount((/** @type {number} */ known) => known + 1))
  }, [])
  const show = () => {
    passFocus()
    reload()
  }
  const text = `${count === 1 ? '1 change' : `${count} changes`} in this collection`
  return html`<p class="updates" role="status">
    ${count > 0 && html`${text} <button type="button" class="quiet" onClick=${show}>Reload</button>`}
  </p>`
}

/** @param {{ links: Record<string, any> }} properties */
function Collections({ links }) {
  const shown = Object.entries(links).filter(([name, link]) => name !== 'self' && link && isWeb(link.href))
  return html`<ul class="cards">
    ${shown.map(([name, { href, title }]) => html`<li><a href=${href}>${label(name)}</a><span class="note">${title}</span></li>`)}
  </ul>`
}

await shareToken()
const view = /** @type {HTMLElement} */ (document.querySelector('#view'))
view.replaceChildren()
render(html`<${Browse} />`, view)
