import assert from 'node:assert/strict'
import { generated } from './generated.mjs'
import { others } from './others.mjs'
import { show } from './pages.mjs'

const [name] = process.argv.slice(2)
if (name in generated) {
  const [list, made] = await generated[name]()
  assert.deepEqual([list.total_count, list._embedded.planets[0].name], [2, 'Client, b'])
  assert.match(made.name, /^Generated-/)
} else await (others[name] ?? show)(name)
process.exit()
