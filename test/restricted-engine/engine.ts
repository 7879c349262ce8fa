import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Owner } from '../helpers/database/database.ts'
import { type FaultRates, Faults } from './faults.ts'
import { createReader, type Message } from './messages.ts'
import { RESTRICTIONS, type Restriction } from './restrictions.ts'
import { RestrictedSession, type SessionOptions } from './session.ts'

/** A server that lacks what an engine lacks, in front of a PostgreSQL server. */
export interface RestrictedEngine {
  /** The address of the server, but of this one. */
  readonly address: string
  /** The statements that were refused, each with the restriction. */
  readonly refused: readonly string[]
  /** How many clients are connected. */
  sessions(): number
  /** How many statements and commits have failed, by kind. */
  readonly faults: ReadonlyMap<string, number>
}

export interface EngineOptions {
  readonly restrictions?: readonly Restriction[]
  readonly faults?: Partial<FaultRates>
  /** Faults begin in a session with the first SQL that this matches; by default, at its start. */
  readonly faultsSince?: RegExp
  /** Is told what the engine has refused, or failed. */
  readonly note?: (what: string) => void
}

const NO_FAULTS: FaultRates = { seed: 1, aborts: 0, refusedCommits: 0, lostCommits: 0 }

/** What a client sends first, apart from a start-up message (section 55.7). */
const REQUESTS = { cancel: 80877102, tls: 80877103, encryption: 80877104 }

/** @param server the address of a PostgreSQL server without TLS */
export async function createRestrictedEngine(
  owner: Owner,
  server: string,
  { restrictions = RESTRICTIONS, faults: rates, faultsSince = /^/, note }: EngineOptions = {},
): Promise<RestrictedEngine> {
  const target = new URL(server)
  const refused: string[] = []
  const faults = new Map<string, number>()
  const options: SessionOptions = {
    restrictions,
    faults: new Faults({ ...NO_FAULTS, ...rates }),
    faultsSince,
    refused({ name }, sql) {
      const statement = `${name}: ${sql.replace(/\s+/g, ' ').slice(0, 300)}`
      refused.push(statement)
      note?.(`refused ${statement}`)
    },
    failed(fault) {
      faults.set(fault, (faults.get(fault) ?? 0) + 1)
      note?.(`failed with ${fault}`)
    },
  }
  const sockets = new Set<Socket>()
  const listener = createServer({ noDelay: true }, (near) => {
    const far = connect({ host: target.hostname, port: Number(target.port || 5432), noDelay: true })
    for (const [socket, other] of [[near, far] as const, [far, near] as const]) {
      sockets.add(socket)
      // The process ends while connections are open.
      socket.unref()
      socket.on('error', () => {})
      socket.on('end', () => other.end())
      socket.on('close', () => {
        other.destroySoon()
        sockets.delete(socket)
      })
    }
    connectSession(near, far, options)
  })
  listener.listen(0, '127.0.0.1').unref()
  await once(listener, 'listening')
  owner.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    listener.close()
  })
  const address = new URL(server)
  address.hostname = '127.0.0.1'
  address.port = String((listener.address() as AddressInfo).port)
  return { address: address.href, refused, faults, sessions: () => sockets.size / 2 }
}

function connectSession(near: Socket, far: Socket, options: SessionOptions): void {
  const session = new RestrictedSession(options)
  const pass = (to: Socket, handled: readonly Message[] | 'close') => {
    if (handled === 'close') {
      near.destroy()
      far.destroy()
    } else for (const message of handled) to.write(message)
  }
  const readServer = createReader()
  far.on('data', (bytes) => {
    for (const message of readServer(bytes)) pass(near, session.fromServer(message))
  })
  const readClient = createReader()
  let startUp: Buffer | undefined = Buffer.alloc(0)
  near.on('data', (bytes) => {
    startUp = startUp && Buffer.concat([startUp, bytes])
    while (startUp && startUp.length >= 8 && startUp.length >= startUp.readInt32BE(0)) {
      const length = startUp.readInt32BE(0)
      const request = startUp.readInt32BE(4)
      const isDeclined = request === REQUESTS.tls || request === REQUESTS.encryption
      // As a server without TLS. The next message is one of these again.
      if (isDeclined) near.write('N')
      else far.write(startUp.subarray(0, length))
      const rest = startUp.subarray(length)
      startUp = isDeclined ? rest : undefined
      if (!isDeclined) bytes = rest
    }
    if (startUp) return
    for (const message of readClient(bytes)) pass(far, session.fromClient(message))
  })
}
