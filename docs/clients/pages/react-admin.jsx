import {
  Admin,
  Datagrid,
  Edit,
  fetchUtils,
  List,
  Resource,
  SimpleForm,
  TextField,
  TextInput,
} from 'react-admin'
import { createRoot } from 'react-dom/client'
import { base, token } from './planets.js'

const user = { authenticated: true, token: `Bearer ${token}` }
const send = (path, options) => fetchUtils.fetchJson(`${base}/${path}`, { ...options, user })

/** Each record has its entity tag, for the change of it. */
const tagged = ({ json, headers }) => ({ data: { ...json, tag: headers.get('ETag') } })

const dataProvider = {
  async getList(resource, { pagination: { page, perPage }, sort: { field, order }, filter }) {
    const query = new URLSearchParams({
      page,
      limit: perPage,
      sort: `${field}:${order.toLowerCase()}`,
      ...filter,
    })
    const { json } = await send(`${resource}?${query}`)
    return { data: json._embedded[resource], total: json.total_count }
  },
  getOne: async (resource, { id }) => tagged(await send(`${resource}/${id}`)),
  async update(resource, { id, data: { tag, ...data } }) {
    const headers = new Headers({ 'If-Match': tag, Prefer: 'return=representation' })
    return tagged(await send(`${resource}/${id}`, { method: 'PUT', headers, body: JSON.stringify(data) }))
  },
}

// An export would ask for 1,000 records at once, which is 400.
const list = (
  <List exporter={false} filter={{ host_star: 'Client' }} perPage={1} sort={{ field: 'name', order: 'DESC' }}>
    <Datagrid>
      <TextField source="name" />
    </Datagrid>
  </List>
)
// With a `meta` of its own, it does not begin with the record of the list, which has no tag.
const edit = (
  <Edit mutationMode="pessimistic" queryOptions={{ meta: { own: true } }}>
    <SimpleForm>
      <TextInput source="discovery_method" />
    </SimpleForm>
  </Edit>
)
createRoot(document.querySelector('#root')).render(
  <Admin dataProvider={dataProvider} disableTelemetry>
    <Resource name="planets" list={() => list} edit={() => edit} />
  </Admin>,
)
