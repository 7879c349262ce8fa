import { species } from '../src/domain/resources/species.ts'
import { queryable } from '../src/model/query/query.ts'
import { median } from './table.ts'

const TIMES = 15

/** A resource of the seed that has a value for every field: these are what is filtered by. */
const SAMPLE = 'seed-00005003'

/** What a page in the order of each field takes, and a page of those that are equal in it: one by one. */
export async function timeFieldsOf(origin: string, token: string): Promise<string> {
  const headers = { Authorization: `Bearer ${token}` }
  const collection = `${origin}/api/v1/species`
  const sample = (await (await fetch(`${collection}/${SAMPLE}`, { headers })).json()) as object
  const time = async (query: string): Promise<string> => {
    const times: number[] = []
    for (let count = 0; count < TIMES; count++) {
      const started = performance.now()
      const answer = await fetch(`${collection}?${query}`, { headers })
      await answer.arrayBuffer()
      if (answer.status !== 200) throw new Error(`${query} was answered ${answer.status}`)
      times.push(performance.now() - started)
    }
    return median(times).toFixed(1)
  }
  const lines: string[] = []
  for (const { name, path } of queryable(species.shownLeaves)) {
    const value = path.reduce((part: unknown, step) => (part as Record<string, unknown>)?.[step], sample)
    const cells = [
      await time(`sort=${name}:asc`),
      await time(`sort=${name}:desc`),
      await time(`filter=${encodeURIComponent(`${name}:${value}`)}`),
    ]
    lines.push(`| ${name} | ${cells.join(' | ')} |`)
  }
  return [
    '| milliseconds a page | sort asc | sort desc | filter |',
    '| --- | --: | --: | --: |',
    ...lines,
  ].join('\n')
}
