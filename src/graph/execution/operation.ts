import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type ValueNode,
  type VariableDefinitionNode,
  validate,
  visit,
} from 'graphql'
import { compileQuery, isCompiledQuery } from 'graphql-jit'
import type { OpenSession, Session } from '../../domain/session/session.ts'
import type { Caller } from '../../model/access/caller.ts'
import type { Values } from '../../model/definition/resource.ts'
import { ABSENT, DomainError } from '../../model/errors.ts'
import type { GraphContext } from './context.ts'
import { causeOf, causesIn } from './errors.ts'
import type { AroundOperation, OperationDocument } from './run-operation.ts'

/** Coercion stops after this many errors of variables: each prints the whole value, which takes milliseconds. */
export const MAXIMUM_VARIABLE_ERRORS = 1

export interface OperationText extends Pick<OperationDocument, 'type' | 'sizedBy'> {
  readonly name: string
  readonly text: string
  /** An operation that returns the same and more, which runs instead until this one is worth compiling. */
  readonly wider?: { run(variables: Values, caller: Caller): Promise<Values> } | undefined
}

/** Compiling an operation and running it for the first time takes as long as running it ten times. */
const RUNS_BEFORE_COMPILING = 2

export type Executor = ReturnType<typeof createExecutor>
export type PreparedOperation = ReturnType<Executor['prepare']>

interface ExecutorParts {
  readonly schema: GraphQLSchema
  readonly openSession: OpenSession
  readonly run: AroundOperation
}

interface Mutation {
  readonly operation: OperationDocument & { readonly execute: Execute }
  readonly variables: Values
}

/** The results of mutations before the first that failed, and its error. */
export interface Outcome {
  readonly results: readonly Values[]
  readonly failure?: unknown
}

/** Makes what REST executes operations with. */
export function createExecutor({ schema, openSession, run }: ExecutorParts) {
  return {
    /** Documents are parsed, validated and compiled when they first run; at the start, this took a sixth of the time. */
    prepare({ type, name, text, sizedBy, wider }: OperationText) {
      let parsed: DocumentNode | undefined
      let compiled: Execute | undefined
      let runs = 0
      const document = () => {
        parsed ??= parse(text)
        return parsed
      }
      const execute: Execute = (variables, context) => {
        compiled ??= compile(schema, document())
        return compiled(variables, context)
      }
      const operation: OperationDocument = { type, document, sizedBy }
      return {
        ...operation,
        /** @param directives the names of those that the operation is shown with */
        show: (...directives: readonly string[]) => print(withDirectives(document(), directives)),
        execute,
        run(variables: Values, caller: Caller): Promise<Values> {
          if (wider && runs++ < RUNS_BEFORE_COMPILING) return wider.run(variables, caller)
          return run({ type, name, parts: [[operation, variables]] }, caller, async (slot) => {
            const session = openSession(caller, slot, true)
            const { data, errors } = await execute(variables, { session })
            // A related list is null if its resource was deleted after it was read.
            const failed = errors?.find((error) => type === 'mutation' || !isOfDeleted(error))
            if (failed) throw causeOf(failed)
            return data as Values
          })
        },
      }
    },

    /** Runs mutations in order, in one transaction, which a failure undoes. */
    runTogether(mutations: readonly Mutation[], caller: Caller, isDryRun: boolean): Promise<Outcome> {
      const parts = mutations.map(({ operation, variables }) => [operation, variables] as const)
      return run({ type: 'mutation', name: 'batch', parts }, caller, async (slot) => {
        const executions = parts.map(
          ([operation, variables]) =>
            async (session: Session) =>
              operation.execute(variables, { session }),
        )
        const whole = openSession(caller, slot, true)
        const all = await whole.together({ isAtomic: true, isDryRun }, executions, causesIn)
        const [error] = all.at(-1)?.errors ?? []
        const results = (error ? all.slice(0, -1) : all).map(({ data }) => data as Values)
        return { results, ...(error && { failure: causeOf(error) }) }
      })
    },
  }
}

function withDirectives(document: DocumentNode, names: readonly string[]): DocumentNode {
  const directives = names.map(
    (value) => ({ kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value } }) as const,
  )
  return { ...document, definitions: document.definitions.map((one) => ({ ...one, directives })) }
}

/** To a caller who may not read the last state of a deleted resource, it never existed. */
function isOfDeleted(error: GraphQLError): boolean {
  const cause = causeOf(error)
  return error.path?.length !== 1 && cause instanceof DomainError && ABSENT.includes(cause.code)
}

type Execute = (variables: Values, context: GraphContext) => ExecutionResult | Promise<ExecutionResult>

/**
 * Compiles a document with one operation to a function, by graphql-jit. For a list of 20 species the function takes
 * 27 µs of CPU time, `execute` of graphql-js 170; for GET one, 3 instead of 15. Compiling takes 3 to 13 ms.
 *
 * graphql-js coerces the variables: graphql-jit does not terminate for input types that contain themselves, as filters do.
 * So graphql-jit sees all variables as JSON, which it passes on unchanged if each is a whole argument.
 *
 * Unlike `execute`, it does not call functions in the results of resolvers.
 *
 * @throws {Error} for a document that is not valid, or an operation that cannot be compiled
 */
function compile(schema: GraphQLSchema, document: DocumentNode): Execute {
  const [definition] = document.definitions as [OperationDefinitionNode]
  const [problem] = validate(schema, document)
  if (problem) throw new Error(`The document does not fit the schema: ${problem.message}\n${print(document)}`)
  visit(document, { ObjectValue: refusePartial, ListValue: refusePartial })
  const { variableDefinitions = [], ...operation } = definition
  const passing = { ...operation, variableDefinitions: variableDefinitions.map(asJson) }
  const compilation = compileQuery(schema, { ...document, definitions: [passing] }, undefined, OPTIONS)
  if (!isCompiledQuery(compilation)) {
    throw compilation.errors?.[0] ?? new Error('The operation cannot be compiled.')
  }
  return (variables, context) => {
    const limit = { maxErrors: MAXIMUM_VARIABLE_ERRORS }
    const { coerced, errors } = getVariableValues(schema, variableDefinitions, variables, limit)
    return errors ? { errors } : compilation.query(undefined, context, coerced)
  }
}

/** @throws {Error} for a variable that is a part of an argument */
function refusePartial(value: ValueNode): void {
  visit(value, {
    Variable({ name }) {
      throw new Error(`The variable ${name.value} must be a whole argument.`)
    },
  })
}

/**
 * Leaves have the types of their columns, and enumerations are stored by name, so serializing them would change
 * nothing and take a quarter of the time.
 */
const OPTIONS = { disablingCapturingStackErrors: true, disableLeafSerialization: true }

function asJson({ kind, variable }: VariableDefinitionNode): VariableDefinitionNode {
  return { kind, variable, type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: 'JSON' } } }
}
