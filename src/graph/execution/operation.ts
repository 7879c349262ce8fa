import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type VariableDefinitionNode,
  validate,
} from 'graphql'
import { compileQuery, isCompiledQuery } from 'graphql-jit'
import type { Caller } from '../../domain/model/caller.ts'
import { createContext, type DomainContext, type GraphContext } from './context.ts'
import { causeOf } from './errors.ts'
import type { Slot } from './operation-limiter.ts'

/** The data of an operation's answer, by the names its document asks for. */
export type Data = { readonly [field: string]: unknown }

/** A prepared GraphQL operation, to be run with different variables, in a slot of the limiter. */
export type Operation = (variables: Data, caller: Caller, slot?: Slot) => Promise<Data>

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
    return async (variables, caller, slot) => {
      const context = createContext(caller, domain, { slot, selectsWritten: true })
      const { data, errors } = await run(variables, context)
      if (errors?.[0]) throw causeOf(errors[0])
      return data as Data
    }
  }
}

type Run = (variables: Data, context: GraphContext) => Promise<ExecutionResult>

/**
 * The one operation of a valid document, compiled to a function of its own by graphql-jit, which does what
 * `execute` of graphql-js does without going through document and schema again each time. Of a list of 20
 * species it takes 27 µs of the processor instead of 170, of GET one 3 instead of 15. Compiling takes 3 to
 * 13 ms, and so is left to the first run: not everything a process could do is wanted at its start.
 *
 * Variables are coerced by graphql-js as ever. What graphql-jit generates for that does not end with input
 * types that contain themselves, as filters do; so it is told that all of them are JSON, which it passes on.
 *
 * It also takes the members of what a resolver answers with as they are: a function there is not called.
 *
 * @throws {Error} when first run, for an operation that cannot be compiled
 */
function compiled(schema: GraphQLSchema, document: DocumentNode): Run {
  const { variableDefinitions = [] } = document.definitions[0] as OperationDefinitionNode
  let run: ReturnType<typeof compile> | undefined
  return async (variables, context) => {
    const { coerced, errors } = getVariableValues(schema, variableDefinitions, variables)
    if (errors) return { errors }
    run ??= compile(schema, document)
    return run(undefined, context, coerced)
  }
}

/**
 * Leaves are what the domain read from columns of their types, and enumerations are stored by their names:
 * to serialize them once more would change nothing, and take a quarter of the time.
 */
const OPTIONS = { disablingCapturingStackErrors: true, disableLeafSerialization: true }

function compile(schema: GraphQLSchema, document: DocumentNode) {
  const [operation] = document.definitions as [OperationDefinitionNode]
  const variableDefinitions = (operation.variableDefinitions ?? []).map(asJson)
  const passing: DocumentNode = { ...document, definitions: [{ ...operation, variableDefinitions }] }
  const compilation = compileQuery(schema, passing, undefined, OPTIONS)
  if (isCompiledQuery(compilation)) return compilation.query
  throw compilation.errors?.[0] ?? new Error('The operation cannot be compiled.')
}

function asJson({ kind, variable }: VariableDefinitionNode): VariableDefinitionNode {
  return { kind, variable, type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: 'JSON' } } }
}

/** A document in its usual layout, for people. */
export function printDocument(source: string): string {
  return print(parse(source))
}
