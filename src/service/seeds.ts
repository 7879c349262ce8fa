import { readFile } from 'node:fs/promises'
import type { Seed } from '../documents/openapi/samples.ts'

/** Reads the resources of a catalogue; none where there is no such file. */
export async function readSeeds(file: string): Promise<Seed[]> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Seed[]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
