import { TabulatorFull } from 'tabulator-tables'
import { address, headers } from './planets.js'

new TabulatorFull('#root', {
  ajaxURL: address,
  ajaxConfig: { headers },
  ajaxURLGenerator(url, _, { page, size, sort, filter }) {
    const order = sort.map(({ field, dir }) => `${field}:${dir}`).join()
    const query = new URLSearchParams({ page, limit: size, sort: order })
    for (const { field, value } of filter) query.append('filter', `${field}:${value}`)
    return `${url}?${query}`
  },
  ajaxResponse: (_, __, list) => ({ data: list._embedded.planets, last_page: list.total_pages }),
  pagination: true,
  paginationMode: 'remote',
  paginationSize: 1,
  sortMode: 'remote',
  initialSort: [{ column: 'name', dir: 'desc' }],
  filterMode: 'remote',
  initialFilter: [{ field: 'host_star', type: '=', value: 'Client' }],
  columns: [{ field: 'name' }, { field: 'habitable' }],
})
