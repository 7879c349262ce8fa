import { Client, DatabaseError } from 'pg'
import { repeatAfterConflicts } from '../conflicts.ts'
import { type Connection, DatabaseRefusedError, retryPatiently } from '../connection.ts'
import { isNotReachedYet } from '../errors.ts'
import { sendSetUp } from '../pooler.ts'
import { readServerFacts, refuseServer } from '../server-facts.ts'
import { DEFAULT_SCHEMA, transactionStatement } from '../session.ts'
import { INSUFFICIENT_PRIVILEGE } from './schemas.ts'

/** Runs work in a transaction, which an error undoes, or in any case with `ROLLBACK`. */
export type Transact = <Result>(
  work: (client: Client) => Promise<Result>,
  end?: 'COMMIT' | 'ROLLBACK',
) => Promise<Result>

const CONNECT_MILLISECONDS = 5_000

/** PostgreSQL, appendix A: a parameter or a value is unknown or not supported. */
const UNKNOWN_SETTING = /^(?:0A000|22023|42704)$/

/**
 * Each transaction has the service's session settings, and is repeated after a conflict. All statements are in one, because
 * a pooler may share sessions.
 */
export async function withSession<Result>(
  connection: Connection,
  use: (transact: Transact, schema: string) => Promise<Result>,
): Promise<Result> {
  const client = await connect(connection)
  const { schema = DEFAULT_SCHEMA } = connection
  const attempt: Transact = async (work, end = 'COMMIT') => {
    await sendSetUp((text) => client.query(text), transactionStatement(schema)).catch((cause) => {
      if (!(cause instanceof DatabaseError && UNKNOWN_SETTING.test(cause.code ?? ''))) throw cause
      const reason = `The server refuses a setting of the session: ${cause.message}`
      throw new DatabaseRefusedError(reason, { cause })
    })
    const result = await work(client).catch(async (error) => {
      await client.query('ROLLBACK').catch(() => {})
      throw error
    })
    await client.query(end)
    return result
  }
  const transact: Transact = (work, end) => repeatAfterConflicts(() => attempt(work, end))
  try {
    refuseServer(await transact(readServerFacts))
    return await use(transact, schema)
  } catch (cause) {
    if (!(cause instanceof DatabaseError)) throw cause
    const reason =
      cause.code === INSUFFICIENT_PRIVILEGE
        ? `The role ${client.user} lacks a privilege (${cause.message}). Grant it, or use another role.`
        : `The database refuses a statement (${cause.code}): ${cause.message}`
    throw new DatabaseRefusedError(reason, { cause })
  } finally {
    await client.end()
  }
}

/** A server repeats some for each connection. */
const warnings = new Set<string>()

/** Retries a server that cannot be reached yet for as long as the connection is patient. */
function connect({ patience, ...connection }: Connection): Promise<Client> {
  const isTemporary = ({ cause }: Error) => isNotReachedYet(cause)
  return retryPatiently(patience, isTemporary, async () => {
    const client = new Client({ connectionTimeoutMillis: CONNECT_MILLISECONDS, ...connection })
    client.on('error', () => {})
    // What a migration has found in the rows.
    client.on('notice', ({ severity, message = '' }) => {
      if (severity === 'WARNING' && !warnings.has(message)) process.emitWarning(message, 'DatabaseWarning')
      warnings.add(message)
    })
    try {
      await client.connect()
      // A pooler accepts a connection before it reaches the server.
      await sendSetUp((text) => client.query(text), 'SHOW server_version')
      return client
    } catch (cause) {
      client.end().catch(() => {})
      const causes = cause instanceof AggregateError ? cause.errors.map(String) : [(cause as Error).message]
      const reason = `The database at ${client.host}:${client.port} cannot be reached: ${causes.join(', ')}`
      throw new DatabaseRefusedError(reason, { cause })
    }
  })
}
