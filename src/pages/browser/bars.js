import { html, useEffect, useRef } from './htm.js'

const scheme = matchMedia('(prefers-color-scheme: dark)')

/** From this number of bars a chart is taller. */
const MANY = 12

/** Characters of a label beside a bar. */
const LABEL_LENGTH = 18

/** @param {string} label */
function shortened(label) {
  return label.length > LABEL_LENGTH ? `${label.slice(0, LABEL_LENGTH - 1)}…` : label
}

/** @param {string} name */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}

/**
 * A bar chart: horizontal for categories, vertical for what has an order. Its accessible name is its content.
 *
 * @param {{ title: string, labels: string[], series: { name?: string, values: number[] }[], isOrdered?: boolean,
 *   isContinuous?: boolean }} properties
 */
export function Bars({ title, labels, series, isOrdered, isContinuous }) {
  const canvas = useRef(/** @type {any} */ (null))
  useEffect(() => {
    // @ts-expect-error The library is a classic script that sets a property of the window.
    const drawn = new window.Chart(canvas.current, {
      type: 'bar',
      data: {
        labels: labels.map(shortened),
        datasets: series.map((one, index) => dataset(one, index, isContinuous === true)),
      },
      options: {
        indexAxis: isOrdered ? 'x' : 'y',
        animation: false,
        maintainAspectRatio: false,
        plugins: {
          legend: { display: series.length > 1, labels: { color: colour('--text'), boxWidth: 12 } },
        },
        scales: { x: axis(), y: axis() },
      },
    })
    return () => drawn.destroy()
  }, [scheme.matches])
  const values = labels.map(
    (label, index) => `${label}: ${series.map((one) => valueText(one, index)).join(', ')}`,
  )
  return html`<h3>${title}</h3>
    <div class="chart ${labels.length * series.length > MANY ? 'tall' : ''}"><canvas ref=${canvas} role="img" aria-label=${`${title}. ${values.join('; ')}`}></canvas></div>`
}

/** @param {{ name?: string, values: number[] }} series @param {number} index */
function valueText({ name, values }, index) {
  return name ? `${name} ${values[index]}` : String(values[index])
}

/** @param {{ name?: string, values: number[] }} series @param {number} index @param {boolean} isContinuous */
function dataset({ name, values }, index, isContinuous) {
  const first = index === 0
  return {
    label: name,
    data: values,
    backgroundColor: first ? colour('--link') : colour('--page'),
    borderColor: colour('--link'),
    borderWidth: first ? 0 : 1.5,
    ...(isContinuous ? { categoryPercentage: 0.96, barPercentage: 1 } : { maxBarThickness: 28 }),
  }
}

function axis() {
  return {
    beginAtZero: true,
    ticks: { color: colour('--text'), precision: 0 },
    grid: { color: colour('--line') },
  }
}
