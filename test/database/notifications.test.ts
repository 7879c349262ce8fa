import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { parseConnection } from '../../src/database/connection.ts'
import { WriteNotifications } from '../../src/database/notifications.ts'

test('while the server cannot be reached, many notifications try to connect once', async (t) => {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.destroy()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const connection = parseConnection(`postgresql://nobody@127.0.0.1:${port}/none`)
  const notifications = new WriteNotifications(connection, { isPooled: false })
  t.teardown(async () => notifications.close())
  for (let sent = 0; sent < 20; sent++) {
    notifications.notify()
    await delay(30)
  }
  t.is(connections, 1)
})
