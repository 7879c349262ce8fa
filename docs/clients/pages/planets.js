// What the programs beside this file share. The page sets where the interface is, and the token.
export const { base, token } = globalThis
export const address = `${base}/planets`
export const headers = { Authorization: `Bearer ${token}` }

/** A page of the planets of a host star. */
export async function read(page, limit, sort) {
  const query = new URLSearchParams({ page, limit, sort: sort.join(), filter: 'host_star:Client' })
  const answer = await fetch(`${address}?${query}`, { headers })
  if (!answer.ok) throw new Error((await answer.json()).error.message)
  return answer.json()
}
