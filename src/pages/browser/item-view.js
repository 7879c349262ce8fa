import { messageOf } from './failure.js'
import { TemplateForm } from './form.js'
import { html, useEffect, useRef, useState } from './htm.js'
import { useNames } from './names.js'
import { base } from './page.js'
import { linkIn, passFocus, send } from './session.js'
import { fieldLabel, isWeb, itemsOf, label, titleOf, Value, valueAt } from './values.js'

/** Relations of the resource itself, and of requests that are buttons here. */
const OWN = ['self', 'edit', 'delete', 'collection', 'parent']
const ITEM_TEMPLATES = ['default', 'patch', 'delete']
/** Opens the form. */
const EDIT = '#edit'

/**
 * One resource: its fields, actions and related resources.
 *
 * @param {{ answer: import('./session.js').Answer, profile: any, reload: () => void }} properties
 */
export function ItemView({ answer, profile, reload }) {
  const { body } = answer
  const [opened, setOpened] = useState(location.hash === EDIT && body._templates?.patch ? 'patch' : '')
  const [hints, setHints] = useState(/** @type {any} */ (undefined))
  const { _links: links = {}, _templates: templates = {}, _embedded, ...fields } = body
  const setters = Object.keys(templates).filter((key) => !ITEM_TEMPLATES.includes(key))
  const references = profile?.references ?? {}
  const nameOf = useNames(references, (name) => [valueAt(body, name)])
  const refer = (/** @type {string} */ name, /** @type {unknown} */ value) => ({
    href: links[references[name]?.relation]?.href,
    ...nameOf(name, value),
  })
  /** The hints in the form of a singleton are in its own profile. */
  const set = async (/** @type {string} */ key) => {
    setHints((await send(`${base}/profile/${key}`, { headers: { Accept: 'application/json' } })).body)
    setOpened(key)
  }
  const close = () => {
    setOpened('')
    // A reload shows the resource, not its form.
    if (location.hash === EDIT) history.replaceState(null, '', location.pathname + location.search)
  }
  const up = links.collection ?? links.parent
  const versions = linkIn(answer, 'version-history')
  const { shown, embedded } = useRelated(links)
  return html`
    ${profile && html`<p class="note">${profile.description}</p>`}
    <div class="actions">
      ${up && html`<a href=${up.href}>Back</a>`}
      ${versions && html`<a href=${versions}>History</a>`}
      ${templates.patch && html`<button type="button" class=${opened ? '' : 'main'} onClick=${() => setOpened('patch')}>Edit</button>`}
      ${
        embedded !== undefined &&
        setters.map((key) =>
          embedded?.[key]
            ? html`<a href=${links[key].href + EDIT}>${templates[key].title.replace(/^Set/, 'Edit')}</a>`
            : html`<button type="button" onClick=${() => set(key)}>${templates[key].title}</button>`,
        )
      }
      ${
        templates.delete &&
        html`<${Deletion} template=${templates.delete} etag=${answer.headers.get('ETag')} up=${up} relations=${profile?.policies.delete.also_deletes ?? []}
        name=${titleOf(body, profile?.name_field)} versions=${versions} />`
      }
    </div>
    ${
      opened !== '' &&
      html`<${TemplateForm} key=${opened} template=${templates[opened]}
      profile=${opened === 'patch' ? profile : hints}
      etag=${opened === 'patch' ? answer.headers.get('ETag') : undefined} isNew=${opened !== 'patch'} onCancel=${close}
      onDone=${() => {
        passFocus()
        close()
        reload()
      }} />`
    }
    <${FieldList} fields=${fields} schema=${profile?.schema} refer=${refer} />
    ${shown.map(([relation, { href, title }]) => {
      const target = embedded && (embedded[relation] ?? NOT_SET)
      const field = profile?.related[relation]
      return html`<${Preview} key=${relation} ...${{ relation, href, title, target, field }} />`
    })}`
}

/**
 * @param {{ fields: Record<string, any>, schema: any, prefix?: string,
 *   refer: (name: string, value: unknown) => object }} properties
 */
function FieldList({ fields, schema, prefix = '', refer }) {
  // Without this parameter, a field that is absent is not set.
  const isWhole = !new URLSearchParams(location.search).has('fields')
  const names = [...new Set([...Object.keys((isWhole && schema?.properties) || {}), ...Object.keys(fields)])]
  return html`<dl>
    ${names.map((name) => {
      const member = schema?.properties?.[name]
      const value = fields[name]
      return html`<div>
        <dt title=${member?.description}>${fieldLabel(name, member)}</dt>
        <dd>
          ${
            member?.properties && value
              ? html`<${FieldList} fields=${value} schema=${member} prefix=${`${prefix}${name}.`} refer=${refer} />`
              : html`<${Value} value=${value} schema=${member} ...${refer(prefix + name, value)} />`
          }
        </dd>
      </div>`
    })}
  </dl>`
}

/**
 * @param {{ template: any, etag: string | null, up: any, relations: string[], name: string, versions?: string }} properties
 *   versions: the address of its history, which remains
 */
function Deletion({ template, etag, up, relations, name, versions }) {
  const dialog = useRef(/** @type {any} */ (null))
  const [problem, setProblem] = useState('')
  const [owned, setOwned] = useState('')
  const open = async () => {
    setOwned(await existing(template.target, relations))
    dialog.current.showModal()
  }
  const remove = async () => {
    const headers = new Headers(etag ? { 'If-Match': etag } : {})
    const { status, body } = await send(template.target, { method: template.method, headers })
    if (status < 400) {
      passFocus({ text: `“${name}” was deleted.`, ...(versions && { href: versions }) })
      return location.assign(up?.href ?? template.target)
    }
    setProblem(messageOf(status, body))
  }
  return html`<button type="button" onClick=${open}>Delete</button>
    <dialog ref=${dialog} aria-labelledby="delete-title">
      <h2 id="delete-title" dir="auto">${template.title} “${name}”?</h2>
      ${owned && html`<p>This also deletes: ${owned}.</p>`}
      ${versions && html`<p>Its history remains. You can restore it from there.</p>`}
      ${problem && html`<p role="alert" class="error">${problem}</p>`}
      <div class="actions">
        <button type="button" class="danger" onClick=${remove}>Delete</button>
        <button type="button" autofocus onClick=${() => dialog.current.close()}>Cancel</button>
      </div>
    </dialog>`
}

/**
 * The related resources that exist: `moons (2), atmosphere`.
 *
 * @param {string} address
 * @param {string[]} relations
 */
async function existing(address, relations) {
  if (relations.length === 0) return ''
  const { status, body } = await send(`${address}?fields=id&embed=${relations.join()}`)
  const nameIn = (/** @type {string} */ relation) => label(relation).toLowerCase()
  if (status !== 200) return `${relations.map(nameIn).join(', ')}, if there are any`
  const found = Object.entries(body._embedded).filter(([, { total_count: count }]) => count !== 0)
  return found.map(([name, { total_count: count }]) => nameIn(name) + (count ? ` (${count})` : '')).join(', ')
}

/**
 * The related resources, all from one request that embeds them. A token without the scopes to read all of them reads each
 * by itself.
 *
 * @param {Record<string, any>} links
 * @returns {{ shown: [string, any][], embedded: any }} embedded: undefined while they are read; null if they cannot be
 */
function useRelated(links) {
  const shown = Object.entries(links).filter(
    ([name, link]) => link && !link.templated && !OWN.includes(name) && isWeb(link.href),
  )
  const relations = shown.map(([relation]) => relation).join()
  const [embedded, setEmbedded] = useState(/** @type {any} */ (relations === '' ? null : undefined))
  const address = `${links.self?.href}?fields=id&embed=${relations}`
  useEffect(() => {
    if (relations === '') return
    void send(address).then(({ status, body }) => setEmbedded(status === 200 ? body._embedded : null))
  }, [address])
  return { shown, embedded }
}

const PREVIEW = 5

/** Stands for the response to a request for what is not embedded. */
const NOT_SET = { error: { code: 'RESOURCE_NOT_FOUND' } }

/**
 * The target of a relation: the first items of a list, or the name of a resource.
 *
 * @param {{ relation: string, href: string, title?: string, target: any, field?: string }} properties
 *   target: undefined while it is read; null if the preview has to read it. field: the one that names it
 */
function Preview({ relation, href, title, target, field }) {
  const [own, setOwn] = useState(/** @type {any} */ (undefined))
  useEffect(() => {
    if (target === null) void send(href).then((answer) => setOwn(answer.body))
  }, [href, target === null])
  const body = target ?? own
  const items = itemsOf(body)
  return html`<section class="preview">
    <h2><a href=${href}>${label(relation)}</a>${items && html` <span class="count">${body.total_count}</span>`}</h2>
    ${title && html`<p class="note">${title}</p>`}
    ${items && items.length === 0 && html`<p class="note">None.</p>`}
    ${items && items.length > 0 && html`<ul>${items.slice(0, PREVIEW).map((item) => html`<li><a href=${item._links.self.href}>${titleOf(item, field)}</a></li>`)}</ul>`}
    ${body && !items && html`<p>${body.error ? html`<span class="note">${body.error.code === 'RESOURCE_NOT_FOUND' ? 'Not set.' : body.error.message}</span>` : titleOf(body, field)}</p>`}
  </section>`
}
