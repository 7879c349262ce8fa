/** Random choices that a seed determines (mulberry32). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** From 0, below 1. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  below(limit: number): number {
    return Math.floor(this.fraction() * limit)
  }

  chance(probability: number): boolean {
    return this.fraction() < probability
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)] as Value
  }

  /** Different values, at least one if there is one. */
  some<Value>(values: readonly Value[], most = values.length): Value[] {
    const count = Math.min(values.length, 1 + this.below(most))
    return values
      .map((value) => [this.fraction(), value] as const)
      .sort(([one], [other]) => one - other)
      .slice(0, count)
      .map(([, value]) => value)
  }

  /** One of them, in proportion to its weight. */
  weighted<Value>(choices: readonly (readonly [weight: number, value: Value])[]): Value {
    let place = this.fraction() * choices.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, value] of choices) {
      place -= weight
      if (place < 0) return value
    }
    return (choices.at(-1) as readonly [number, Value])[1]
  }
}
