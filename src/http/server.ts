import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises'
import { refuseConnect, respondToClientError } from './errors.ts'

interface ServerState {
  /** Every response closes its connection. */
  readonly isStopping: boolean
}

export interface ServerLimits {
  readonly maximumConnections: number
  readonly keepAliveSeconds: number
  /** How long a client may take to receive a response. */
  readonly responseMilliseconds?: number
}

const RESPONSE_MILLISECONDS = 8_000

/** Requests of one connection that may wait before the service reads no more from it. */
const MAXIMUM_WAITING = 100

/** While responses are held back, the service stops listening when no client has connected for this long. */
const QUIET_MILLISECONDS = 100
const QUIET_ATTEMPTS = 10

/** The operating system resets a connection that arrives after Node has accepted the last, so that must be just now. */
const SHORT_TURN_MILLISECONDS = 0.1
const MOST_TURNS = 10_000

/**
 * By default, Node keeps slow connections for minutes and responds to malformed requests without a body. This server does
 * neither.
 */
export function createHttpServer(handler: RequestListener, limits: ServerLimits, state: ServerState) {
  const { responseMilliseconds = RESPONSE_MILLISECONDS } = limits
  let held: Promise<void> | undefined
  const server = createServer({
    headersTimeout: 6_000,
    requestTimeout: 10_000,
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: limits.keepAliveSeconds * 1_000,
    // The application checks the Host header and responds with the error envelope.
    requireHostHeader: false,
  })
  server.maxConnections = limits.maximumConnections
  // A client that closes its side of the connection after its request still gets the response.
  Object.assign(server, { httpAllowHalfOpen: true })
  const respond: RequestListener = (request, response) => {
    toOriginForm(request)
    if (state.isStopping) {
      response.setHeader('Connection', 'close')
      endAfter(response, () => held)
    }
    let timer: NodeJS.Timeout | undefined
    const startTimer = () => {
      timer ??= setTimeout(() => request.socket.destroy(), responseMilliseconds)
    }
    // A stream is piped into the response. Any other body is written at once.
    response.once('pipe', startTimer)
    response.once('prefinish', startTimer)
    response.once('close', () => clearTimeout(timer))
    handler(request, response)
  }
  server.on('request', oneAfterTheOther(respond))
  // Expectations other than 100-continue may be ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('clientError', respondToClientError)
  server.on('connect', refuseConnect)
  return {
    server,
    /**
     * Stops listening, finishes all requests, and closes all connections, by force after the deadline.
     *
     * @param idleTimeout how long idle connections are kept, in milliseconds; a request may already be on its way
     * @param othersListen whether other processes accept the connections to come
     * @returns whether all requests were finished in time
     */
    async drain(deadline: number, idleTimeout: number, othersListen: boolean): Promise<boolean> {
      if (idleTimeout > 0 && !othersListen) {
        held = untilNoClientConnects(server)
        await held
        held = undefined
      }
      return drain(server, deadline, idleTimeout)
    },
  }
}

/**
 * Handles the requests of a connection one after the other, in their order (RFC 9112 §9.3.2). Node would start all
 * pipelined requests at once, and keep their responses in memory until the first is sent; after a stream of events, that
 * is never. When the connection is lost, only the first response would be closed, so the others would count forever.
 */
function oneAfterTheOther(handler: RequestListener): RequestListener {
  const queues = new WeakMap<Socket, (() => void)[]>()
  return (request, response) => {
    const { socket } = request
    const queue = queues.get(socket) ?? []
    if (!queues.has(socket)) {
      queues.set(socket, queue)
      // Node resumes a connection after each request.
      socket.on('resume', () => pauseIfFull(socket, queue))
    }
    queue.push(() => {
      response.once('close', () => {
        queue.shift()
        if (socket.destroyed) return
        queue[0]?.()
        if (queue.length === MAXIMUM_WAITING) socket.resume()
      })
      handler(request, response)
    })
    if (queue.length === 1) queue[0]?.()
    // Node ignores a pause while it parses what it has read.
    else process.nextTick(pauseIfFull, socket, queue)
  }
}

function pauseIfFull(socket: Socket, queue: readonly unknown[]): void {
  if (queue.length > MAXIMUM_WAITING) socket.pause()
}

/** Resolves in a turn of the event loop that has found no connection to accept. */
async function untilNoClientConnects(server: Server): Promise<void> {
  let connected = 0
  server.on('connection', () => connected++)
  for (let attempt = 0; attempt < QUIET_ATTEMPTS; attempt++) {
    const before = connected
    await delay(QUIET_MILLISECONDS)
    if (connected === before) break
  }
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    const [before, turn] = [connected, performance.now()]
    await immediate()
    if (connected === before && performance.now() - turn < SHORT_TURN_MILLISECONDS) return
  }
}

/**
 * A client whose connection a response has closed opens a new one. The operating system accepts it before the service
 * does, and resets it if the service stops listening in between. So responses are held back meanwhile: no client has a
 * reason to connect, and those that have connected are accepted.
 */
function endAfter(response: ServerResponse, held: () => Promise<void> | undefined): void {
  const end = response.end.bind(response) as (...parameters: unknown[]) => ServerResponse
  response.end = ((...parameters: unknown[]) => {
    const wait = held()
    if (!wait) return end(...parameters)
    void wait.then(() => end(...parameters))
    return response
  }) as typeof response.end
}

/** If the request target is a whole URL, its host replaces the Host header (RFC 9112 §3.2.2). */
function toOriginForm(request: IncomingMessage): void {
  const [, host, rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(request.url ?? '') ?? []
  if (host === undefined) return
  request.headers.host = host
  request.url = rest.startsWith('/') ? rest : `/${rest}`
}

function drain(server: Server, deadline: number, idleTimeout: number): Promise<boolean> {
  return new Promise((resolve) => {
    let isForced = false
    const timers = [
      setTimeout(() => {
        isForced = true
        server.closeAllConnections()
      }, deadline),
      setTimeout(() => {
        timers.push(setInterval(() => server.closeIdleConnections(), 50))
      }, idleTimeout),
    ]
    // `close` of an HTTP server also closes connections that are idle now; that of a net.Server only stops listening.
    NetServer.prototype.close.call(server, () => {
      for (const timer of timers) clearTimeout(timer)
      resolve(!isForced)
    })
  })
}
