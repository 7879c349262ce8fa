import { BarController, BarElement, CategoryScale, Chart, LinearScale, Tooltip } from 'chart.js'

Chart.register(BarController, BarElement, CategoryScale, LinearScale, Tooltip)

/** Tests read from the window what is drawn. */
Object.assign(window, { Chart })

export { Chart }
