import { Chart } from './chart.js'
import { html, useEffect, useRef } from './htm.js'

const scheme = matchMedia('(prefers-color-scheme: dark)')

/** A chart with this number of bars or more is taller. */
const MANY = 12

/** Longest label beside a bar, in characters. */
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
 * A bar chart: horizontal for categories, vertical for ordered values. Its accessible name contains its data.
 *
 * @param {{ title: string, labels: string[], values: number[], isOrdered?: boolean, isContinuous?: boolean }} properties
 */
export function Bars({ title, labels, values, isOrdered, isContinuous }) {
  const canvas = useRef(/** @type {any} */ (null))
  useEffect(() => {
    const drawn = new Chart(canvas.current, {
      type: 'bar',
      data: {
        labels: labels.map(shortened),
        datasets: [
          {
            data: values,
            backgroundColor: colour('--link'),
            ...(isContinuous ? { categoryPercentage: 0.96, barPercentage: 1 } : { maxBarThickness: 28 }),
          },
        ],
      },
      options: {
        indexAxis: isOrdered ? 'x' : 'y',
        animation: false,
        maintainAspectRatio: false,
        plugins: { legend: { display: false } },
        scales: { x: axis(), y: axis() },
      },
    })
    return () => drawn.destroy()
  }, [scheme.matches, labels.join()])
  const content = labels.map((label, index) => `${label}: ${values[index]}`).join('; ')
  return html`<h4>${title}</h4>
    <div class="chart ${labels.length > MANY ? 'tall' : ''}"><canvas ref=${canvas} role="img" aria-label=${`${title}. ${content}`}></canvas></div>`
}

function axis() {
  return {
    beginAtZero: true,
    ticks: { color: colour('--text'), precision: 0 },
    grid: { color: colour('--line') },
  }
}
