import { Grid } from 'gridjs'
import { address, headers } from './planets.js'

new Grid({
  columns: ['name', 'habitable'],
  server: {
    url: `${address}?sort=name:desc&filter=host_star:Client`,
    headers,
    // biome-ignore lint/suspicious/noThenProperty: Grid.js calls it so.
    then: ({ _embedded }) => _embedded.planets,
    total: ({ total_count }) => total_count,
  },
  pagination: { limit: 1, server: { url: (list, page, limit) => `${list}&page=${page + 1}&limit=${limit}` } },
}).render(document.querySelector('#root'))
