import { AllCommunityModule, createGrid, ModuleRegistry } from 'ag-grid-community'
import { read } from './planets.js'

ModuleRegistry.registerModules([AllCommunityModule])
createGrid(document.querySelector('#root'), {
  rowModelType: 'infinite',
  cacheBlockSize: 1, // The default, 100, is the most that MAX_PAGE_SIZE permits by default.
  columnDefs: [{ field: 'name', sort: 'desc' }, { field: 'habitable' }],
  datasource: {
    async getRows({ startRow, endRow, sortModel, successCallback }) {
      const order = sortModel.map(({ colId, sort }) => `${colId}:${sort}`)
      const { _embedded, total_count } = await read(endRow / (endRow - startRow), endRow - startRow, order)
      successCallback(_embedded.planets, total_count)
    },
  },
})
