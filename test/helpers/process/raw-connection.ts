import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection to a service, with nothing sent on it yet. */
export async function openConnection(origin: string): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(origin).port) })
  await once(socket, 'connect')
  return socket
}

/** Resolves to everything that comes back until the connection ends. */
export async function readToEnd(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => {})
  socket.resume()
  await once(socket, 'close')
  return Buffer.concat(chunks).toString()
}
