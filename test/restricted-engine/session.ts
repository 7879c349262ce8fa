import type { Faults } from './faults.ts'
import { after, errorMessage, type Message, parseMessage, queryMessage, textsOf, typeOf } from './messages.ts'
import { type Restriction, restrictionOf } from './restrictions.ts'
import { withCachedSequences } from './sequences.ts'
import { sentStatements, statementsOf } from './statements.ts'
import { COMMIT, NO_TRANSACTION, transactionAfter } from './transaction.ts'

/** PostgreSQL, appendix A. */
const FEATURE_NOT_SUPPORTED = '0A000'

/** A distributed engine ends statements that read or write rows. Those that only set up a session cannot conflict. */
const USES_ROWS = /^(?:select|with|insert|update|delete)\b.* (?:from|into|set|for (?:update|share)) /

/** Of a statement that no client names. */
const FAILING = 'restricted_engine_failing'

/** The server's error for this column names the error that the client receives. */
const ERROR_COLUMN = /restricted_engine_error_(\d+)/

export interface SessionOptions {
  readonly restrictions: readonly Restriction[]
  readonly faults: Faults
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
  #refusedCommits = 0
  #closesAfterCommit = false
  #held: Message | undefined

  constructor(private readonly options: SessionOptions) {}

  fromClient(message: Message): Passed {
    switch (typeOf(message)) {
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
        return [this.#execute(message)]
      default:
        return [message]
    }
  }

  fromServer(message: Message): Passed {
    const held = this.#held
    this.#held = undefined
    const type = typeOf(message)
    if (type === 'C' && this.#closesAfterCommit) return 'close'
    if (type === 'C' && this.#refusedCommits > 0 && message.toString('latin1', 5, 13) === 'ROLLBACK') {
      this.#held = message
      return []
    }
    const [, index] = (type === 'E' && ERROR_COLUMN.exec(message.toString('latin1'))) || []
    if (index === undefined) return held ? [held, message] : [message]
    if (held) this.#refusedCommits--
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

  #execute(message: Message): Message {
    const [portal = ''] = textsOf(message, 1)
    const words = this.#portals.get(portal) ?? ''
    const state = this.#abortOf(words)
    return state ? parseMessage(FAILING, this.#failing(state, 'the engine has ended the statement')) : message
  }

  #commit(message: Message): Passed {
    const fault = this.options.faults.ofCommit()
    if (!fault) return [message]
    this.options.failed(`commit ${fault}`)
    if (fault === 'lost before') return 'close'
    if (fault === 'lost after') {
      this.#closesAfterCommit = true
      return [message]
    }
    this.#refusedCommits++
    return [queryMessage(`ROLLBACK; ${this.#failing('40001', 'the engine has refused the commit')}`)]
  }

  #abortOf(words: string): string | undefined {
    const state = USES_ROWS.test(words) ? this.options.faults.ofStatement() : undefined
    if (state) this.options.failed(state)
    return state
  }

  /** What the engine says to the first statement that it does not support; undefined if it supports all of them. */
  #refusalOf(sql: string): string | undefined {
    let transaction = this.#transaction
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
