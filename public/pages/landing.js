import { html, render, useEffect, useRef, useState } from './htm.js'
import { send, shareToken, storeToken, token } from './session.js'
import { TokenForm } from './token-form.js'

const service = new URL('../..', import.meta.url).href
const scheme = matchMedia('(prefers-color-scheme: dark)')

/** @param {string} name */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}

/** With a token: what each collection holds, as numbers and charts. */
function Dashboard() {
  const [collections, setCollections] = useState(/** @type {any[]} */ ([]))
  const [isRefused, setRefused] = useState(false)
  const load = async () => {
    setCollections([])
    setRefused(false)
    if (token() === '') return
    const { body } = await send(new URL('charts.json', import.meta.url).href)
    for (const collection of body) {
      const answer = await send(`${service}graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
        body: { query: collection.query },
      })
      if (answer.status === 401) return setRefused(true)
      // A collection that the token may not read is left out.
      const data = answer.body?.data
      if (data?.total) setCollections((/** @type {any[]} */ shown) => [...shown, { ...collection, data }])
    }
  }
  useEffect(() => {
    void load()
  }, [])
  const use = (/** @type {string} */ value) => {
    storeToken(value)
    void load()
  }
  return html`<${TokenForm} isRefused=${isRefused} use=${use} />
    ${isRefused && html`<p role="alert" class="error">The service does not accept this access token.</p>`}
    ${collections.map((one) => html`<${Collection} key=${one.title} collection=${one} />`)}`
}

/** @param {{ collection: any }} properties */
function Collection({ collection: { title, charts, numbers, data } }) {
  const [all] = data.total.groups
  const shown = charts.filter((/** @type {any} */ { name }) => data[name]?.groups.length > 0)
  return html`<section aria-label=${title}>
    <h2>${title} <span class="count">${all?.count ?? 0}</span></h2>
    ${
      all?.count > 0 &&
      html`
      <ul class="charts">${shown.map((/** @type {any} */ chart) => html`<li><${Bars} chart=${chart} groups=${data[chart.name].groups} /></li>`)}</ul>
      ${numbers.length > 0 && html`<${Numbers} numbers=${numbers} all=${all} title=${title} />`}`
    }
  </section>`
}

/** @param {any} properties */
function Bars({ chart: { title, member }, groups }) {
  const canvas = useRef(/** @type {any} */ (null))
  const rows = groups.map((/** @type {any} */ { key, time, count }) => ({
    label: labelOf(member ? key[member] : time?.slice(0, 7)),
    count,
  }))
  useEffect(() => {
    const [text, line] = [colour('--text'), colour('--line')]
    // @ts-expect-error The library is a classic script that sets a property of the window.
    const drawn = new window.Chart(canvas.current, {
      type: 'bar',
      data: {
        labels: rows.map((/** @type {any} */ row) => row.label),
        datasets: [
          {
            data: rows.map((/** @type {any} */ row) => row.count),
            backgroundColor: colour('--link'),
            maxBarThickness: 28,
          },
        ],
      },
      options: {
        indexAxis: member ? 'y' : 'x',
        animation: false,
        maintainAspectRatio: false,
        plugins: { legend: { display: false } },
        scales: {
          x: { ticks: { color: text, precision: 0 }, grid: { color: line } },
          y: { ticks: { color: text, precision: 0 }, grid: { color: line } },
        },
      },
    })
    return () => drawn.destroy()
  }, [scheme.matches])
  const summary = rows.map((/** @type {any} */ row) => `${row.label}: ${row.count}`).join(', ')
  return html`<h3>${title}</h3>
    <div class="chart"><canvas ref=${canvas} role="img" aria-label=${`${title}. ${summary}`}></canvas></div>`
}

/** @param {unknown} value */
function labelOf(value) {
  if (value === null || value === undefined) return 'not set'
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value)
}

/** @param {any} properties */
function Numbers({ numbers, all, title }) {
  const text = (/** @type {number | null} */ value) =>
    value?.toLocaleString(undefined, { maximumSignificantDigits: 4 }) ?? '–'
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${`Numbers of ${title}`}><table>
    <thead><tr><th scope="col">Number</th><th scope="col">Least</th><th scope="col">Average</th><th scope="col">Greatest</th></tr></thead>
    <tbody>${numbers.map(
      (/** @type {any} */ { title: name, member }) => html`<tr>
      <th scope="row">${name}</th><td>${text(all.minimum[member])}</td><td>${text(all.average[member])}</td><td>${text(all.maximum[member])}</td>
    </tr>`,
    )}</tbody>
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
// The colours of charts are drawn, so they do not follow the scheme by themselves.
scheme.addEventListener('change', draw)
draw()
