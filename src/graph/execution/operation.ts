import { type GraphQLSchema, parse, print, validate } from 'graphql'
import type { Caller } from '../../domain/model/caller.ts'
import { compiled } from './compiled.ts'
import { createContext, type DomainContext } from './context.ts'
import { causeOf } from './errors.ts'
import type { Turn } from './operation-limiter.ts'

/** The data of an operation's answer, by the names its document asks for. */
export type Data = { readonly [field: string]: unknown }

/** A GraphQL operation that is ready to run with different variables, when it is its turn. */
export type Operation = (variables: Data, caller: Caller, turn?: Turn) => Promise<Data>

/** Makes an operation of a document. */
export type Prepare = (document: string) => Operation

/**
 * Prepares operations on a schema, in process: no HTTP, no parsing at request time. Documents are
 * parsed and validated here, so that one that does not fit the schema stops the start.
 *
 * @throws {Error} for a document that is not valid
 */
export function createPrepare(schema: GraphQLSchema, domain: DomainContext): Prepare {
  return (source) => {
    const document = parse(source)
    const [problem] = validate(schema, document)
    if (problem) throw new Error(`The document does not fit the schema: ${problem.message}\n${source}`)
    const run = compiled(schema, document)
    return async (variables, caller, turn) => {
      const context = createContext(caller, domain, { turn, selectsWritten: true })
      const { data, errors } = await run(variables, context)
      if (errors?.[0]) throw causeOf(errors[0])
      return data as Data
    }
  }
}

/** A document in its usual layout, for people. */
export function printDocument(source: string): string {
  return print(parse(source))
}
