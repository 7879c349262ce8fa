import DataTable from 'datatables.net'
import { read } from './planets.js'

new DataTable(document.querySelector('#root').appendChild(document.createElement('table')), {
  serverSide: true,
  pageLength: 1,
  order: [[0, 'desc']],
  async ajax({ start, length, order, columns }, callback) {
    const sort = order.map(({ column, dir }) => `${columns[column].data}:${dir}`)
    const { _embedded, total_count } = await read(start / length + 1, length, sort)
    callback({ data: _embedded.planets, recordsTotal: total_count, recordsFiltered: total_count })
  },
  // Without defaultContent, an absent field is an alert.
  columns: [
    { data: 'name', render: DataTable.render.text() },
    { data: 'habitable', defaultContent: '' },
  ],
})
