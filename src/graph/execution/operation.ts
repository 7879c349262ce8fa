import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  type OperationTypeNode,
  parse,
  print,
  type VariableDefinitionNode,
  validate,
} from 'graphql'
import { compileQuery, isCompiledQuery } from 'graphql-jit'
import type { Caller } from '../../model/caller.ts'
import type { Values } from '../../model/resource.ts'
import { currentTimings, describeSpan, inSpan } from '../../observability/observation.ts'
import { awaitWrites, createContext, type DomainContext, type GraphContext } from './context.ts'
import { type CostEstimator, RESPONSE_BYTES_PER_UNIT } from './cost.ts'
import { causeOf } from './errors.ts'
import type { OperationLimiter, Slot } from './operation-limiter.ts'

/** A GraphQL operation of a document, to be run with different variables. */
export interface PreparedOperation {
  readonly document: string
  /** Runs it in a slot of the limiter, once there is memory for its response. */
  run(variables: Values, caller: Caller): Promise<Values>
}

/** Prepares the operation of a document. */
export type Prepare = (document: string) => PreparedOperation

/** What operations are prepared with. */
export interface PrepareParts {
  readonly schema: GraphQLSchema
  readonly domain: DomainContext
  readonly costs: CostEstimator
  readonly run: RunOperation
}

/**
 * Creates the function that prepares operations on a schema. Operations run in process, without HTTP. A document is
 * parsed, validated and compiled when it is first run. To do so at the start took a sixth of it.
 */
export function createPrepare(parts: PrepareParts): Prepare {
  const { domain, run } = parts
  return (document) => {
    let compiled: CompiledOperation | undefined
    return {
      document,
      run(variables, caller) {
        compiled ??= compile(parts, document)
        const { name, type, bytesOf, execute } = compiled
        return run({ name, type }, caller, async (slot) => {
          await slot.reserve(bytesOf(variables))
          const context = createContext(caller, domain, { slot, selectsWritten: true })
          if (type === 'query') await awaitWrites(context)
          const { data, errors } = await execute(variables, context)
          if (errors?.[0]) throw causeOf(errors[0])
          return data as Values
        })
      },
    }
  }
}

/** Whether an operation only reads. */
export function isQueryDefinition({ operation }: OperationDefinitionNode): boolean {
  return operation === 'query'
}

interface CompiledOperation extends OperationLabel {
  /** The memory that the response may need. That of REST depends on the variable `limit` only. */
  bytesOf(variables: Values): number
  execute(variables: Values, context: GraphContext): Promise<ExecutionResult>
}

/**
 * The operation of a document with one operation, compiled to a function by graphql-jit. For a list of 20 species the
 * function takes 27 µs of CPU time, `execute` of graphql-js 170; for GET one, 3 instead of 15. Compiling takes 3 to
 * 13 ms.
 *
 * graphql-js coerces the variables. The coercion code of graphql-jit does not terminate for input types that
 * contain themselves, as filters do. So graphql-jit sees all variables as JSON, which it passes on unchanged.
 *
 * Unlike `execute`, it does not call functions in the results of resolvers.
 *
 * @throws {Error} for a document that is not valid, or an operation that cannot be compiled
 */
function compile({ schema, costs }: PrepareParts, source: string): CompiledOperation {
  const document = parse(source)
  const [problem] = validate(schema, document)
  if (problem) throw new Error(`The document does not fit the schema: ${problem.message}\n${source}`)
  const definition = document.definitions[0] as OperationDefinitionNode
  const [field] = definition.selectionSet.selections as [FieldNode]
  const execute = compileDocument(schema, document)
  const bytes = new Map<unknown, number>()
  return {
    type: definition.operation,
    name: field.name.value,
    bytesOf(variables) {
      const { limit } = variables
      const known = bytes.get(limit)
      if (known !== undefined) return known
      const size = costs.response({ schema, document, variables }) * RESPONSE_BYTES_PER_UNIT
      bytes.set(limit, size)
      return size
    },
    async execute(variables, context) {
      const { coerced, errors } = getVariableValues(schema, definition.variableDefinitions ?? [], variables)
      return errors ? { errors } : execute(undefined, context, coerced)
    },
  }
}

/**
 * Leaves have the types of their columns, and enumerations are stored by name, so serializing them would change
 * nothing and take a quarter of the time.
 */
const OPTIONS = { disablingCapturingStackErrors: true, disableLeafSerialization: true }

function compileDocument(schema: GraphQLSchema, document: DocumentNode) {
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

/** A document in the usual layout. */
export function printDocument(source: string): string {
  return print(parse(source))
}

/** What an operation is called in traces: `mutation createSpecies`. */
interface OperationLabel {
  readonly type: OperationTypeNode
  readonly name: string
}

/** Runs the work of a caller as one GraphQL operation: in a slot of the limiter, in a span, and timed. */
export type RunOperation = <Result>(
  label: OperationLabel | undefined,
  caller: Caller,
  work: (slot: Slot) => Promise<Result>,
) => Promise<Result>

/** Makes the function that runs every GraphQL operation, of REST and of GraphQL's own callers. */
export function createRunOperation(limiter: OperationLimiter): RunOperation {
  return (label, caller, work) => {
    const name = label ? `GraphQL ${label.type} ${label.name}` : 'GraphQL request'
    return inSpan(name, label ? { 'graphql.operation.type': label.type } : {}, async () => {
      const timings = currentTimings()
      const started = performance.now()
      try {
        return await limiter.run(caller.identity, work)
      } finally {
        if (timings) timings.graphql += performance.now() - started
      }
    })
  }
}

/** A caller can send a name of any length. */
const NAME_CHARACTERS = 100

/** Names the span of a request by the operation that it asks for, which is known once the document is parsed. */
export function describeOperation({ operation: type, name }: OperationDefinitionNode): void {
  const known = name?.value.slice(0, NAME_CHARACTERS)
  describeSpan(known === undefined ? `GraphQL ${type}` : `GraphQL ${type} ${known}`, {
    'graphql.operation.type': type,
    ...(known === undefined ? {} : { 'graphql.operation.name': known }),
  })
}
