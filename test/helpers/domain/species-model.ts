/** The writable part of a species that the model knows. */
export interface ModelSpecies {
  readonly scientific_name?: string
  readonly habitat?: string
  readonly temperature_range?: { readonly min_celsius?: number; readonly max_celsius?: number }
}

interface Stored {
  readonly species: ModelSpecies
  readonly version: number
}

/** A step that a client takes. `ifVersion` is a condition on the version (an entity tag). */
export type Step =
  | {
      readonly kind: 'put'
      readonly id: string
      readonly species: ModelSpecies
      readonly namesItself: boolean
      readonly ifVersion?: number | undefined
    }
  | {
      readonly kind: 'patch'
      readonly id: string
      readonly species: ModelSpecies
      readonly ifVersion?: number | undefined
    }
  | { readonly kind: 'delete'; readonly id: string; readonly ifVersion?: number | undefined }
  | { readonly kind: 'read'; readonly id: string }

/** What the contract says of a step: its status, and the resource after it where it is shown. */
export interface Expected {
  readonly status: number
  readonly version?: number
  readonly species?: ModelSpecies
}

/** The contract for species in small: what a client may expect, step after step. */
export class SpeciesModel {
  readonly #stored = new Map<string, Stored>()
  readonly #buried = new Map<string, number>()

  take(step: Step): Expected {
    switch (step.kind) {
      case 'read':
        return this.#read(step.id)
      case 'delete':
        return this.#delete(step.id, step.ifVersion)
      case 'put':
        return this.#put(step)
      case 'patch':
        return this.#patch(step.id, step.species, step.ifVersion)
    }
  }

  get total(): number {
    return this.#stored.size
  }

  #read(id: string): Expected {
    const stored = this.#stored.get(id)
    return stored ? { status: 200, ...stored } : { status: this.#buried.has(id) ? 410 : 404 }
  }

  #delete(id: string, ifVersion: number | undefined): Expected {
    const stored = this.#stored.get(id)
    if (!stored) return { status: 204 }
    if (ifVersion !== undefined && ifVersion !== stored.version) return { status: 409 }
    this.#stored.delete(id)
    this.#buried.set(id, stored.version)
    return { status: 204 }
  }

  #put({ id, species, namesItself, ifVersion }: Step & { kind: 'put' }): Expected {
    if (isInvalid(species)) return { status: 400 }
    const stored = this.#stored.get(id)
    if (!stored && (!namesItself || ifVersion !== undefined)) return { status: 404 }
    return this.#write(id, species, stored, ifVersion)
  }

  #patch(id: string, patch: ModelSpecies, ifVersion: number | undefined): Expected {
    const stored = this.#stored.get(id)
    if (!stored) return { status: 404 }
    if (ifVersion !== undefined && ifVersion !== stored.version) return { status: 409 }
    const merged = { ...stored.species, ...patch }
    if (patch.temperature_range) {
      merged.temperature_range = { ...stored.species.temperature_range, ...patch.temperature_range }
    }
    if (isInvalid(merged)) return { status: 400 }
    return this.#write(id, merged, stored, ifVersion)
  }

  #write(
    id: string,
    species: ModelSpecies,
    stored: Stored | undefined,
    ifVersion: number | undefined,
  ): Expected {
    if (stored && ifVersion !== undefined && ifVersion !== stored.version) return { status: 409 }
    if (isTooCold(species)) return { status: 422 }
    if (this.#isTaken(id, species)) return { status: 409 }
    const kept = withoutEmptyRange(species)
    if (!stored) {
      const version = (this.#buried.get(id) ?? 0) + 1
      this.#buried.delete(id)
      this.#stored.set(id, { species: kept, version })
      return { status: 201, version, species: kept }
    }
    const isSame = JSON.stringify(sorted(kept)) === JSON.stringify(sorted(stored.species))
    const version = stored.version + (isSame ? 0 : 1)
    this.#stored.set(id, { species: kept, version })
    return { status: 204, version }
  }

  #isTaken(id: string, { scientific_name = '' }: ModelSpecies): boolean {
    const name = scientific_name.trim().toLowerCase()
    return [...this.#stored].some(
      ([other, { species }]) => other !== id && species.scientific_name?.trim().toLowerCase() === name,
    )
  }
}

/** The same members in one order, without those that are not set. */
export function sorted({ scientific_name, habitat, temperature_range }: ModelSpecies): ModelSpecies {
  const { min_celsius, max_celsius } = temperature_range ?? {}
  const range = {
    ...(min_celsius !== undefined && { min_celsius }),
    ...(max_celsius !== undefined && { max_celsius }),
  }
  return {
    ...(scientific_name !== undefined && { scientific_name }),
    ...(habitat !== undefined && { habitat }),
    ...(Object.keys(range).length > 0 && { temperature_range: range }),
  }
}

function withoutEmptyRange(species: ModelSpecies): ModelSpecies {
  return sorted(species)
}

function isInvalid({ scientific_name, temperature_range }: ModelSpecies): boolean {
  const { min_celsius, max_celsius } = temperature_range ?? {}
  const isReversed = min_celsius !== undefined && max_celsius !== undefined && min_celsius > max_celsius
  return scientific_name === undefined || scientific_name.trim() === '' || isReversed
}

function isTooCold({ temperature_range }: ModelSpecies): boolean {
  const { min_celsius = 0, max_celsius = 0 } = temperature_range ?? {}
  return Math.min(min_celsius, max_celsius) < -273.15
}
