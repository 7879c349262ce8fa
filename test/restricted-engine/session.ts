import type { Faults } from './faults.ts'
import { after, errorMessage, type Message, parseMessage, queryMessage, textsOf, typeOf } from './messages.ts'
import { type Restriction, restrictionOf } from './restrictions.ts'
import { withCachedSequences } from './sequences.ts'
import { sentStatements, statementsOf } from './statements.ts'
import { COMMIT, NO_TRANSACTION, transactionAfter } from './transaction.ts'

/** PostgreSQL, appendix A. */
const FEATURE_NOT_SUPPORTED = '0A000'

/** A distributed engine ends statements that read or write rows. Those that only set up a session cannot conflict. */
const USES_ROWS = /^(?:select|with|insert|update|delete)\b.* (?:from|into|set) /

/** Of a statement that no client names. */
const FAILING = 'restricted_engine_failing'

/** The server's error for this column names the error that the client receives. */
const ERROR_COLUMN = /restricted_engine_error_(\d+)/

export interface SessionOptions {
  readonly restrictions: readonly Restriction[]
  readonly faults: Faults
  /** Faults begin in a session with the first SQL that this matches. */
  readonly faultsSince: RegExp
  /** Is told each restriction that refused a statement. */
  readonly refused: (restriction: Restriction, sql: string) => void
  /** Is told each fault. */
  readonly failed: (fault: string) => void
}

/** What to pass on; or that the connection closes, on both sides. */
type Passed = readonly Message[] | 'close'

/**
 * A session between a client and the server, message by message. A statement that fails here is replaced by one that fails
 * on the server, whose error is then replaced. So the state of the transaction, what is skipped until Sync, and the order of
 * pipelined responses are the server's own.
 */
export class RestrictedSession {
  #transaction = NO_TRANSACTION
  /** What clients have prepared and bound, by name. */
  readonly #prepared = new Map<string, string>()
  readonly #portals = new Map<string, string>()
  readonly #errors: Message[] = []
  /** The commits whose refusal the server has yet to send, each with how many ReadyForQuery it sends besides the client's. */
  readonly #refusedCommits: number[] = []
  #superfluousReady = 0
  /** As the server after an error in the extended protocol, until Sync. */
  #isSkipping = false
  #closesAfterCommit = false
  #hasFaults = false
  #held: Message | undefined

  constructor(private readonly options: SessionOptions) {}

  fromClient(message: Message): Passed {
    const type = typeOf(message)
    if (this.#isSkipping && type !== 'S') return []
    switch (type) {
      case 'S':
        this.#isSkipping = false
        return [message]
      case 'Q':
        return this.#query(message)
      case 'P':
        return [this.#parse(message)]
      case 'B': {
        const [portal = '', name = ''] = textsOf(message, 2)
        this.#portals.set(portal, this.#prepared.get(name) ?? '')
        return [message]
      }
      case 'E':
        return this.#execute(message)
      default:
        return [message]
    }
  }

  fromServer(message: Message): Passed {
    const held = this.#held
    this.#held = undefined
    const type = typeOf(message)
    if (type === 'C' && this.#closesAfterCommit) return 'close'
    if (type === 'C' && this.#refusedCommits.length > 0 && textsOf(message, 1)[0] === 'ROLLBACK') {
      this.#held = message
      return []
    }
    if (type === 'Z' && this.#superfluousReady > 0) {
      this.#superfluousReady--
      return []
    }
    const [, index] = (type === 'E' && ERROR_COLUMN.exec(message.toString('latin1'))) || []
    if (index === undefined) return held ? [held, message] : [message]
    if (held) this.#superfluousReady += this.#refusedCommits.shift() as number
    return [this.#errors[Number(index)] as Message]
  }

  #query(message: Message): Passed {
    const [sql = ''] = textsOf(message, 1)
    const refusal = this.#refusalOf(sql)
    if (refusal) return [queryMessage(this.#failing(FEATURE_NOT_SUPPORTED, refusal))]
    const [only, another] = sentStatements(sql)
    if (only && !another && COMMIT.test(only.words)) return this.#commit(message)
    const state = only && !another ? this.#abortOf(only.words) : undefined
    if (state) return [queryMessage(this.#failing(state, 'the engine has ended the statement'))]
    const cached = withCachedSequences(sql)
    return [cached === sql ? message : queryMessage(cached)]
  }

  #parse(message: Message): Message {
    const [name = '', sql = ''] = textsOf(message, 2)
    const refusal = this.#refusalOf(sql)
    if (refusal) return parseMessage(name, this.#failing(FEATURE_NOT_SUPPORTED, refusal))
    this.#prepared.set(name, sentStatements(sql)[0]?.words ?? '')
    const cached = withCachedSequences(sql)
    return cached === sql ? message : parseMessage(name, cached, after(message, [name, sql]))
  }

  #execute(message: Message): Passed {
    const [portal = ''] = textsOf(message, 1)
    const words = this.#portals.get(portal) ?? ''
    if (COMMIT.test(words)) return this.#commit(message)
    const state = this.#abortOf(words)
    return [
      state ? parseMessage(FAILING, this.#failing(state, 'the engine has ended the statement')) : message,
    ]
  }

  #commit(message: Message): Passed {
    const fault = this.#hasFaults ? this.options.faults.ofCommit() : undefined
    if (!fault) return [message]
    this.options.failed(`commit ${fault}`)
    if (fault === 'lost before') return 'close'
    if (fault === 'lost after') {
      this.#closesAfterCommit = true
      return [message]
    }
    // The server sends a ReadyForQuery after a Query, and another one after the client's Sync.
    this.#isSkipping = typeOf(message) === 'E'
    this.#refusedCommits.push(this.#isSkipping ? 1 : 0)
    return [queryMessage(`ROLLBACK; ${this.#failing('40001', 'the engine has refused the commit')}`)]
  }

  #abortOf(words: string): string | undefined {
    const state = this.#hasFaults && USES_ROWS.test(words) ? this.options.faults.ofStatement() : undefined
    if (state) this.options.failed(state)
    return state
  }

  /** What the engine says to the first statement that it does not support; undefined if it supports all of them. */
  #refusalOf(sql: string): string | undefined {
    let transaction = this.#transaction
    this.#hasFaults ||= this.options.faultsSince.test(sql)
    for (const statement of statementsOf(sql)) {
      const restriction = restrictionOf(this.options.restrictions, statement, transaction)
      if (restriction) {
        this.options.refused(restriction, sql)
        return `${restriction.name} not supported yet`
      }
      if (statement.inside === undefined) transaction = transactionAfter(transaction, statement.words)
    }
    this.#transaction = transaction
    return undefined
  }

  /** A statement that the server refuses; the client receives this error instead. */
  #failing(state: string, text: string): string {
    this.#errors.push(errorMessage(state, text))
    return `SELECT restricted_engine_error_${this.#errors.length - 1}`
  }
}
