import { currentTimings, inSpan } from '../domain/observation.ts'
import type { Admission } from './admission.ts'
import type { Prepare } from './operation.ts'

/** Runs work as one GraphQL operation: when there is room for it, in a span, and timed. */
export type RunOperation = <Result>(
  name: string,
  work: (signal: AbortSignal) => Promise<Result>,
) => Promise<Result>

/** Makes the function that every GraphQL operation goes through, whoever asks for it. */
export function createRunOperation(admission: Admission): RunOperation {
  return (name, work) =>
    inSpan(`GraphQL ${name}`, { 'graphql.operation.type': name.split(' ')[0] as string }, async () => {
      const timings = currentTimings()
      const started = performance.now()
      try {
        return await admission.run(work)
      } finally {
        if (timings) timings.graphql += performance.now() - started
      }
    })
}

/** Prepares operations that go through it. */
export function instrument(prepare: Prepare, run: RunOperation): Prepare {
  return (document) => {
    const operation = prepare(document)
    const name = operationName(document)
    return (variables, caller) => run(name, (signal) => operation(variables, caller, signal))
  }
}

/** What an operation is called in a trace: `mutation createSpecies`, `query species`. */
function operationName(document: string): string {
  const [, type = 'query', field = ''] =
    /^\s*(query|mutation)?[^{]*\{\s*(?:\w+:\s*)?(\w+)/.exec(document) ?? []
  return `${type} ${field}`
}
