import type { Operation, OperationDocument, OperationType } from '../../graph/execution/run-operation.ts'
import type { Values } from '../../model/definition/resource.ts'
import { CHARACTERS_PER_UNIT, type CostEstimator } from './cost.ts'

/** A unit is a look-up of a resource, which takes 0.2 ms, or this many bytes of a body, a response or a table. */
const BYTES_PER_UNIT = 32 * 1024

/** Texts are rarely as long as they may be. */
const USUAL_PART = 0.5

const COUNTS: Readonly<Record<OperationType, number>> = { query: 1, mutation: 6 }

/**
 * How long a unit of data keeps the process busy, with others in between. At 6 MB a second, the data of one caller takes
 * only part of the processor.
 */
export const MILLISECONDS_PER_UNIT = 5

const PAUSE = 9
const LONGEST_PAUSE_MILLISECONDS = 1_000

/** How long a caller pauses after work that blocked the event loop for so long, in milliseconds: beside others, a tenth is left. */
export function pauseOf(milliseconds: number): number {
  return Math.min(PAUSE * milliseconds, LONGEST_PAUSE_MILLISECONDS)
}

export function unitsOfBytes(bytes: number): number {
  return Math.floor(bytes / BYTES_PER_UNIT)
}

/** Says how many units operations count. */
export class Units {
  readonly #known = new WeakMap<OperationDocument, Map<unknown, number>>()

  constructor(private readonly costs: CostEstimator) {}

  /** At the start; the rest of a request to /graphql is known once its document is parsed. */
  of({ type, parts }: Operation): number {
    return parts ? this.ofParts(parts) : COUNTS[type]
  }

  ofParts(parts: NonNullable<Operation['parts']>): number {
    return parts.reduce((sum, [operation, variables]) => sum + this.#ofPart(operation, variables), 0)
  }

  #ofPart(operation: OperationDocument, variables: Values): number {
    const sizes = this.#known.get(operation) ?? new Map<unknown, number>()
    this.#known.set(operation, sizes)
    const size = operation.sizedBy === undefined ? undefined : variables[operation.sizedBy]
    const known = sizes.get(size)
    if (known !== undefined) return known
    const response = this.costs.response({ document: operation.document(), variables })
    const units = this.ofResponse(operation.type, response)
    sizes.set(size, units)
    return units
  }

  /** @param cost of the largest possible response */
  ofResponse(type: OperationType, cost: number): number {
    return COUNTS[type] + unitsOfBytes(cost * CHARACTERS_PER_UNIT * USUAL_PART)
  }
}
