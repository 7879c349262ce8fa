import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { answerClientError, refuseConnect } from './client-error.ts'

/** How patient the server is. */
export interface ServerLimits {
  readonly maximumConnections: number
  readonly keepAliveSeconds: number
  /** Whether the service is about to stop: then every answer ends its connection. */
  readonly isStopping: () => boolean
  /** How long an answer may take to be read. */
  readonly answerMilliseconds?: number
}

/** Headers, the whole request, and taking the answer: whoever needs longer is cut off. */
const HEADERS_MILLISECONDS = 6_000
const REQUEST_MILLISECONDS = 10_000
const ANSWER_MILLISECONDS = 8_000

/** For so long nobody must have connected, while answers are held back, before the service stops listening. */
const QUIET_MILLISECONDS = 100
const QUIET_ATTEMPTS = 10

/** An HTTP server, and how it is stopped. */
export interface HttpServer {
  readonly server: Server
  /**
   * Stops accepting, answers what was accepted, and ends all connections; after the deadline by force.
   *
   * @param patience in milliseconds: how long a connection on which nothing happens is kept. A request may
   *   have been sent on it already, and not have been read yet.
   * @returns whether everything was answered in time
   */
  drain(deadline: number, patience: number): Promise<boolean>
}

/**
 * Makes the HTTP server. Node's own limits let slow connections live for minutes, and its parser answers
 * malformed requests without a body; both are set right here.
 */
export function createHttpServer(handler: RequestListener, limits: ServerLimits): HttpServer {
  const { answerMilliseconds = ANSWER_MILLISECONDS } = limits
  let held: Promise<void> | undefined
  const server = createServer({
    headersTimeout: HEADERS_MILLISECONDS,
    requestTimeout: REQUEST_MILLISECONDS,
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: limits.keepAliveSeconds * 1_000,
    // The application looks at it, and says in its own words what is wrong.
    requireHostHeader: false,
  })
  server.maxConnections = limits.maximumConnections
  // A client that has sent all it has to say, and closed its side of the connection, is answered before that ends.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('request', (request, response) => {
    toOriginForm(request)
    if (limits.isStopping()) {
      response.setHeader('Connection', 'close')
      endAfter(response, () => held)
    }
    const startTimer = () => {
      const timer = setTimeout(() => request.socket.destroy(), answerMilliseconds)
      response.once('close', () => clearTimeout(timer))
    }
    // A stream is piped into the response; every other body is given to it at once.
    response.once('pipe', startTimer)
    response.once('prefinish', () => {
      if (response.listenerCount('pipe') > 0) startTimer()
    })
    handler(request, response)
  })
  // What is expected beyond 100-continue may be ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('clientError', answerClientError)
  server.on('connect', refuseConnect)
  return {
    server,
    async drain(deadline, patience) {
      let release = () => {}
      held = new Promise((resolve) => {
        release = resolve
      })
      if (patience > 0) await untilNobodyConnects(server)
      const drained = drain(server, deadline, patience)
      held = undefined
      release()
      return drained
    },
  }
}

async function untilNobodyConnects(server: Server): Promise<void> {
  let connected = 0
  server.on('connection', () => {
    connected++
  })
  for (let attempt = 0; attempt < QUIET_ATTEMPTS; attempt++) {
    const before = connected
    await delay(QUIET_MILLISECONDS)
    if (connected === before) return
  }
}

/**
 * Whoever gets an answer that ends the connection opens the next one, which the system accepts before the
 * service does, and resets if the service stops listening in between. So for the moment in which it stops,
 * answers are held back: nobody has a reason to connect, and those who have connected are accepted.
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

/** A request may name its whole address; then that is its host (RFC 9112 §3.2.2). */
function toOriginForm(request: IncomingMessage): void {
  const { url = '' } = request
  if (!/^https?:\/\//i.test(url)) return
  const [, host = '', rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(url) ?? []
  request.headers.host = host
  request.url = rest.startsWith('/') ? rest : `/${rest}`
}

function drain(server: Server, deadline: number, patience: number): Promise<boolean> {
  return new Promise((resolve) => {
    let isForced = false
    const timers = [
      setTimeout(() => {
        isForced = true
        server.closeAllConnections()
      }, deadline),
      setTimeout(() => {
        timers.push(setInterval(() => server.closeIdleConnections(), 50))
      }, patience),
    ]
    // The close of an HTTP server would also end every connection that is idle at this very moment; that
    // of the server beneath only stops listening.
    NetServer.prototype.close.call(server, () => {
      for (const timer of timers) clearTimeout(timer)
      resolve(!isForced)
    })
  })
}
