import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { parseConnection } from '../../src/database/connection.ts'
import { WriteNotifications } from '../../src/database/notifications.ts'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { until } from '../helpers/process/until.ts'

const server = findServer((reason) => console.log(`notifications: ${reason}`))
const claim = server ? test : test.skip

claim('many writes at once send two notifications, not to their own process', async (t) => {
  const connection = parseConnection(await createDatabaseOn(server as string, t))
  const sender = new WriteNotifications(connection, { isPooled: false })
  const receiver = new WriteNotifications(connection, { isPooled: false })
  t.teardown(async () => {
    sender.close()
    receiver.close()
  })
  const received = { own: 0, others: 0 }
  sender.listen(() => received.own++)
  receiver.listen(() => received.others++)
  // Until the receiver listens, notifications are lost.
  await until(() => {
    sender.notify()
    return received.others > 0
  })
  // One more may be on its way.
  await delay(1_000)
  received.others = 0
  for (let number = 0; number < 100; number++) sender.notify()
  await until(() => received.others >= 2)
  await delay(200)
  t.deepEqual(received, { own: 0, others: 2 })
})

/** How often notifications connect to a server that refuses each connection. */
async function countConnections(
  t: ExecutionContext,
  pool: { readonly isPooled: boolean },
  work: (notifications: WriteNotifications) => Promise<void>,
): Promise<number> {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.destroy()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const connection = parseConnection(`postgresql://nobody@127.0.0.1:${port}/none`)
  const notifications = new WriteNotifications(connection, pool)
  t.teardown(async () => notifications.close())
  await work(notifications)
  return connections
}

test('while the server cannot be reached, many notifications try to connect once', async (t) => {
  const begun = performance.now()
  const connections = await countConnections(t, { isPooled: false }, async (notifications) => {
    for (let sent = 0; sent < 20; sent++) {
      notifications.notify()
      await delay(30)
    }
  })
  // On a busy machine, this may take longer than the five seconds between two attempts.
  t.true(connections <= 1 + (performance.now() - begun) / 5_000, `${connections}`)
})

test('nothing connects through a pooler, or after the end', async (t) => {
  const pooled = await countConnections(t, { isPooled: true }, async (notifications) => {
    notifications.listen(() => {})
    await delay(200)
  })
  const closed = await countConnections(t, { isPooled: false }, async (notifications) => {
    notifications.close()
    notifications.listen(() => {})
    await delay(200)
  })
  t.deepEqual([pooled, closed], [0, 0])
})
