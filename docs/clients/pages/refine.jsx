import { Refine, useForm, useTable } from '@refinedev/core'
import { createDataProvider } from '@refinedev/rest'
import { createRoot } from 'react-dom/client'
import { base, headers } from './planets.js'

/** Each record has its entity tag, for the change of it. */
const mapResponse = async (response) => ({ ...(await response.json()), tag: response.headers.get('ETag') })
const options = {
  getList: {
    // Of a list it would make `filter[0]`, so each field has a parameter of its own.
    buildQueryParams: async ({ pagination, sorters, filters }) => ({
      page: pagination.currentPage,
      limit: pagination.pageSize,
      sort: sorters.map(({ field, order }) => `${field}:${order}`).join(),
      ...Object.fromEntries(filters.map(({ field, value }) => [field, value])),
    }),
    mapResponse: async (response, { resource }) => (await response.json())._embedded[resource],
    getTotalCount: async (response) => Number(response.headers.get('X-Total-Count')),
  },
  getOne: { mapResponse },
  update: {
    buildHeaders: async ({ variables }) => ({ 'If-Match': variables.tag, Prefer: 'return=representation' }),
    buildBodyParams: async ({ variables: { tag: _, ...changes } }) => changes,
    mapResponse,
  },
}
const { dataProvider } = createDataProvider(base, options, { headers })

function Planets() {
  const { result, setCurrentPage } = useTable({
    resource: 'planets',
    pagination: { pageSize: 1 },
    sorters: { initial: [{ field: 'name', order: 'desc' }] },
    filters: { permanent: [{ field: 'host_star', operator: 'eq', value: 'Client' }] },
  })
  const [{ id, name } = {}] = result.data
  const { query, onFinish } = useForm({ resource: 'planets', action: 'edit', id, redirect: false })
  const change = (values) => onFinish({ tag: query.data.data.tag, discovery_method: values.get('method') })
  return (
    <form action={change}>
      <p>{name}</p>
      <input aria-label="Discovery method" name="method" />
      <button type="submit" disabled={!query?.data}>
        Save
      </button>
      <button type="button" onClick={() => setCurrentPage(2)}>
        Next
      </button>
    </form>
  )
}

createRoot(document.querySelector('#root')).render(
  <Refine dataProvider={dataProvider} options={{ disableTelemetry: true }}>
    <Planets />
  </Refine>,
)
