import { median } from './table.ts'

const PAGE = 20
const PAGES = 40_000
/** The pages at either end whose times are compared. */
const COMPARED = 1_000
/** After so many pages somebody else adds a resource. */
const PAGES_PER_INSERT = 100

interface Page {
  readonly _links: { readonly next: { readonly href: string } | null }
  readonly _embedded: { readonly species: readonly { readonly id: string }[] }
}

/**
 * Follows `next` through the large catalogue while it grows, and says what the last pages cost beside the
 * first ones, and whether any resource was skipped or shown twice.
 */
export async function followNext(origin: string, token: string, rows: number): Promise<string> {
  const headers = { Authorization: `Bearer ${token}` }
  const wanted = Math.min(PAGES, Math.floor(rows / PAGE))
  const seen = new Set<string>()
  const times: number[] = []
  let repeated = 0
  let href: string | undefined = `${origin}/api/v1/species?limit=${PAGE}`
  for (let page = 1; page <= wanted && href; page++) {
    const started = performance.now()
    const answer = await fetch(href, { headers })
    const { _links, _embedded } = (await answer.json()) as Page
    times.push(performance.now() - started)
    for (const { id } of _embedded.species) {
      if (seen.has(id)) repeated++
      seen.add(id)
    }
    href = _links.next?.href
    if (page % PAGES_PER_INSERT === 0) await insert(origin, headers, page)
  }
  const expected = Array.from(
    { length: seen.size },
    (_, index) => `seed-${String(index + 1).padStart(8, '0')}`,
  )
  const missing = expected.filter((id) => !seen.has(id)).length
  const [first, last] = [times.slice(0, COMPARED), times.slice(-COMPARED)].map(median) as [number, number]
  const pages = times.length.toLocaleString('en')
  return `
Following next through ${pages} pages, a resource being added after every ${PAGES_PER_INSERT}: the last ${COMPARED.toLocaleString('en')} pages
take ${last.toFixed(2)} ms each, the first ${first.toFixed(2)} ms (× ${(last / first).toFixed(2)}); ${missing} skipped, ${repeated} repeated.
`
}

async function insert(origin: string, headers: Record<string, string>, number: number): Promise<void> {
  const answer = await fetch(`${origin}/api/v1/species`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    // Its moment of discovery lies before all others, so that it moves every page that is still to come.
    body: JSON.stringify({ scientific_name: `Added ${number}` }),
  })
  if (answer.status !== 201) throw new Error(`POST was answered ${answer.status}`)
}
