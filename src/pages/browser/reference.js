import { html, render, useEffect, useState } from './htm.js'
import { OperationView } from './operation-view.js'
import { base } from './page.js'
import { Formatted, Lazy, referred } from './schema-view.js'

/**
 * The operations of the OpenAPI document of this service, by tag. Each is rendered when it is opened.
 *
 * @param {{ description: any, operations: Entry[] }} properties the OpenAPI document, and its operations
 */
function Reference({ description, operations: all }) {
  const [search, setSearch] = useState('')
  const [linked, setLinked] = useState(linkedOperation)
  useEffect(() => {
    const follow = () => {
      setSearch('')
      setLinked(linkedOperation())
    }
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  useEffect(() => {
    document.getElementById(linked)?.scrollIntoView()
  }, [linked])
  const { info, tags } = description
  const words = search.toLowerCase().split(/\s+/)
  const found = all.filter(({ text }) => words.every((word) => text.includes(word)))
  const groups = tags.map((/** @type {any} */ { name, description: about }) => {
    const operations = found.filter(({ operation }) => operation.tags.includes(name))
    if (operations.length === 0) return null
    const isOpen = search !== '' || operations.some(({ operation }) => operation.operationId === linked)
    const list = () =>
      operations.map((one) => {
        const { operationId: id } = one.operation
        return html`<${OperationView} key=${id} entry=${one} description=${description} isOpen=${id === linked} />`
      })
    const title = html`<h2>${name}</h2><span class="note">${about} (${operations.length})</span>`
    return html`<${Lazy} key=${name} style="group" title=${title} isOpen=${isOpen} content=${list} />`
  })
  return html`<div>
    <h1>${info.title} <span class="note">version ${info.version}</span></h1>
    <p><${Formatted} text=${info.description} /></p>
    <form role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <label>Search operations <input type="search" value=${search} onInput=${(/** @type {any} */ { target }) => setSearch(target.value)} /></label>
    </form>
    <p class="note" role="status">${found.length === 0 ? 'No operation has all of these words.' : ''}</p>
    ${groups}
  </div>`
}

/** The `operationId` that the address names: `#listPlanets`. */
function linkedOperation() {
  return location.hash.split(/[#/]/).at(-1) ?? ''
}

/**
 * @typedef {{ method: string, path: string, operation: any, parameters: any[], text: string }} Entry `text` is what
 *   searches compare, in lower case
 */

/**
 * @param {any} description
 * @returns {Entry[]}
 */
function operationsOf(description) {
  return Object.entries(description.paths).flatMap(([path, { parameters = [], ...methods }]) =>
    Object.entries(methods).map(([method, operation]) => {
      const all = [...parameters, ...(operation.parameters ?? [])].map((one) => referred(one, description))
      const text = [method, path, operation.summary, operation.operationId].join(' ').toLowerCase()
      return { method: method.toUpperCase(), path, operation, parameters: all, text }
    }),
  )
}

const view = /** @type {HTMLElement} */ (document.querySelector('#view'))
const response = await fetch(`${new URL(base).pathname}/openapi.json`)
view.replaceChildren()
if (response.ok) {
  const description = await response.json()
  render(html`<${Reference} ...${{ description, operations: operationsOf(description) }} />`, view)
} else
  render(
    html`<h1>No description</h1><p role="alert">The service did not send it (${response.status}).</p>`,
    view,
  )
