import { Bars } from './bars.js'
import { numberText, rangesOf } from './histogram.js'
import { html, render, useEffect, useState } from './htm.js'
import { useNames } from './names.js'
import { base, provider, seed } from './page.js'
import { send, shareToken, token } from './session.js'
import { askForToken } from './session-control.js'
import { textOf, titleOf, Value } from './values.js'

const service = new URL('../..', import.meta.url).href
const scheme = matchMedia('(prefers-color-scheme: dark)')

/**
 * @param {string} query
 * @param {object} [variables]
 */
function ask(query, variables) {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json' }
  return send(`${service}graphql`, { method: 'POST', headers, body: { query, variables } })
}

/**
 * Reads fields in one operation. If it costs more than is allowed, in one for each half.
 *
 * @param {string[]} fields
 * @returns {Promise<Record<string, any> | undefined>} by name; undefined without a valid token
 */
async function valuesOf(fields) {
  const { status, body } = await ask(`{ ${fields.join(' ')} }`)
  if (status === 401) return undefined
  if (status !== 400 || fields.length <= 1) return body?.data ?? {}
  const middle = fields.length / 2
  const halves = await Promise.all([valuesOf(fields.slice(0, middle)), valuesOf(fields.slice(middle))])
  return halves.includes(undefined) ? undefined : { ...halves[0], ...halves[1] }
}

/** The count of each collection that may be read, what changed last, and numbers and charts of those that are open. */
function Dashboard() {
  const [collections, setCollections] = useState(/** @type {any[]} */ ([]))
  const load = async () => {
    setCollections([])
    const { body } = await send(new URL('charts.json', import.meta.url).href)
    const totals = await valuesOf([
      ...body.map((/** @type {any} */ { aggregate }) => `${aggregate} { groups { count } }`),
      ...body.flatMap((/** @type {any} */ { latest }) => latest ?? []),
    ])
    if (!totals) return token() === '' ? undefined : askForToken()
    // Collections that the caller may not read are omitted.
    const shown = body.filter((/** @type {any} */ { aggregate }) => totals[aggregate])
    const counted = shown.map((/** @type {any} */ collection) => {
      const { aggregate, page } = collection
      return { collection, count: totals[aggregate].groups[0].count, latest: totals[page]?.items ?? [] }
    })
    const first = counted.find((/** @type {any} */ { count }) => count > 0)
    setCollections(counted.map((/** @type {any} */ one) => ({ ...one, isOpen: one === first })))
  }
  useEffect(() => {
    void load()
  }, [])
  if (token() === '' && collections.length === 0)
    return html`<p class="note">${provider ? 'After signing in' : 'With an access token'}, this page shows what each collection contains.</p>`
  const groups = [...new Set(collections.map(({ collection }) => collection.group))]
  return html`<h2>Collections</h2>
    <ul class="cards">${groups.map((group) => html`<li key=${group}>${collections.filter(({ collection }) => collection.group === group).map(Count)}</li>`)}</ul>
    <${Latest} collections=${collections} />
    <h2>Charts</h2>
    ${collections.map((one) => html`<${Collection} key=${one.collection.title} ...${one} />`)}`
}

/** A collection with the number of its items: a link, or a note if it belongs to others. */
function Count(/** @type {any} */ { collection: { title, path }, count }) {
  const text = html`${title} <span class="count">${textOf(count)}</span>`
  return path ? html`<a href=${`${base}/${path}`}>${text}</a>` : html`<span class="note">${text}</span>`
}

const MAXIMUM_CHANGES = 6

/** What changed last in all collections. */
function Latest(/** @type {{ collections: any[] }} */ { collections }) {
  const changes = collections.flatMap(({ collection, latest }) =>
    latest.map((/** @type {any} */ one) => ({ ...one, collection })),
  )
  if (changes.length === 0) return null
  changes.sort((one, other) => Date.parse(other.time) - Date.parse(one.time))
  return html`<h2>Changed last</h2>
    <ul class="latest">${changes.slice(0, MAXIMUM_CHANGES).map(
      ({ id, name, time, by, collection: { title, path } }) => html`<li>
      <a href=${`${base}/${path}/${id}`} dir="auto">${titleOf({ _links: { self: { title: name } } }, 'id')}</a>
      <span class="note"> ${title}, <${Value} value=${time} schema=${{ format: 'date-time' }} />${by && ` by ${by}`}</span>
    </li>`,
    )}</ul>`
}

/** @param {{ collection: any, count: number, isOpen: boolean }} properties */
function Collection({ collection, count, isOpen }) {
  const [wasOpened, setOpened] = useState(isOpen)
  const { title } = collection
  return html`<details class="collection" open=${isOpen} onToggle=${(/** @type {any} */ event) => event.target.open && setOpened(true)}>
    <summary><h3>${title}</h3></summary>
    ${
      wasOpened &&
      html`<section aria-label=${title}>
      ${count > 0 ? html`<${Contents} collection=${collection} />` : html`<p class="empty">There are none yet. ${seed && html`To add the example catalogue: <code>${seed}</code>`}</p>`}
    </section>`
    }
  </details>`
}

/** @param {{ collection: any }} properties */
function Contents({ collection }) {
  const [data, setData] = useState(/** @type {any} */ (undefined))
  useEffect(() => {
    const load = async () => setData((await ask(collection.query)).body?.data ?? {})
    void load()
  }, [])
  if (!data) return html`<p class="note">Loading…</p>`
  const measures = data.measures?.groups[0]
  const charts = collection.charts.filter((/** @type {any} */ { name }) => data[name]?.groups.length > 0)
  const numbers = collection.numbers.filter(
    (/** @type {any} */ { member }) => (measures?.minimum[member] ?? null) !== null,
  )
  return html`<ul class="charts">
      ${charts.map((/** @type {any} */ chart) => html`<li><${Groups} chart=${chart} groups=${data[chart.name].groups} /></li>`)}
      ${numbers.length > 0 && html`<${Histograms} collection=${collection} measures=${measures} />`}
    </ul>
    ${numbers.length > 0 && html`<${Numbers} numbers=${numbers} measures=${measures} title=${collection.title} />`}`
}

function Groups(/** @type {any} */ { chart: { title, member, target }, groups }) {
  const nameOf = useNames(target ? { [member]: target } : {}, () =>
    groups.map((/** @type {any} */ { key }) => key[member]),
  )
  const labels = groups.map((/** @type {any} */ { key, time }) => {
    const value = member ? key[member] : time?.slice(0, 7)
    return nameOf(member, value)?.name ?? labelOf(value)
  })
  const values = groups.map((/** @type {any} */ { count }) => count)
  return html`<${Bars} title=${title} labels=${labels} values=${values} isOrdered=${!member} />`
}

/** @param {unknown} value */
function labelOf(value) {
  if (value === null || value === undefined) return 'not set'
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value)
}

/** All histograms of a collection, in one request. */
function Histograms(/** @type {any} */ { collection: { numbers, ranges }, measures }) {
  const [data, setData] = useState(/** @type {any} */ (undefined))
  const histograms = numbers.map((/** @type {any} */ { title, member, isInteger }) => {
    const [least, greatest] = [measures.minimum[member] ?? 0, measures.maximum[member] ?? 1].map(Number)
    return {
      title,
      isShown: measures.minimum[member] !== null,
      ...rangesOf(isInteger, least, greatest, ranges.maximum),
    }
  })
  useEffect(() => {
    const variables = histograms.map((/** @type {any} */ { bounds }, /** @type {number} */ index) => [
      `bounds${index}`,
      bounds,
    ])
    const load = async () => setData((await ask(ranges.query, Object.fromEntries(variables))).body?.data)
    void load()
  }, [])
  if (!data) return null
  return histograms.map((/** @type {any} */ { title, isShown, labels }, /** @type {number} */ index) => {
    const { groups } = data[`histogram${index}`]
    const countOf = (/** @type {number} */ range) =>
      groups.find((/** @type {any} */ group) => group.range === range)?.count ?? 0
    const values = labels.map((/** @type {string} */ _, /** @type {number} */ range) => countOf(range))
    return (
      isShown &&
      html`<li><${Bars} title=${title} labels=${labels} values=${values} isOrdered isContinuous /></li>`
    )
  })
}

function Numbers(/** @type {any} */ { numbers, measures, title }) {
  const cells = (/** @type {string} */ member) => {
    const [least, average, greatest] = [measures.minimum, measures.average, measures.maximum].map((measure) =>
      Number(measure[member]),
    )
    return html`<td>${numberText(least)}</td><td>${numberText(average, 4)}</td><td>${numberText(greatest)}</td>`
  }
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${`Numbers of ${title}`}><table>
    <thead><tr><th scope="col">Number</th><th scope="col">Minimum</th><th scope="col">Average</th><th scope="col">Maximum</th></tr></thead>
    <tbody>${numbers.map((/** @type {any} */ number) => html`<tr><th scope="row">${number.title}</th>${cells(number.member)}</tr>`)}</tbody>
  </table></div>`
}

async function showStatus() {
  const status = /** @type {HTMLElement} */ (document.querySelector('#status'))
  // `send` would add the token, which the probe does not need.
  const answer = await fetch(`${service}health/ready`).catch(() => undefined)
  await answer?.text()
  const isReady = answer?.ok === true
  status.textContent = isReady ? 'The service is ready.' : 'The service is not ready.'
  status.className = isReady ? 'good' : 'bad'
}

void showStatus()
await shareToken()
const view = /** @type {HTMLElement} */ (document.querySelector('#view'))
const draw = () => {
  render(null, view)
  render(html`<${Dashboard} />`, view)
}
// Charts are drawn, so their colours do not follow the colour scheme by themselves.
scheme.addEventListener('change', draw)
draw()
