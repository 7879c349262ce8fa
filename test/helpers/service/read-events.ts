import type { Json, RequestHeaders } from './client.ts'

interface Event {
  readonly id: string
  readonly data: Json
}

/** Reads blocks of a stream until so many events have come, and leaves. */
export async function readEvents(
  url: string,
  count: number,
  headers: RequestHeaders,
): Promise<{ events: Event[]; last: string; headers: Headers }> {
  const response = await fetch(url, { headers: { Accept: 'text/event-stream', ...headers } })
  if (response.status !== 200) throw new Error(await response.text())
  const found: Event[] = []
  let text = ''
  let last = ''
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    text += Buffer.from(chunk).toString()
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const block = text.slice(0, end)
      text = text.slice(end + 2)
      last = /^id: (.*)$/m.exec(block)?.[1] ?? last
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (data !== undefined && !/^event: position$/m.test(block))
        found.push({ id: last, data: JSON.parse(data) })
    }
    if (found.length >= count && last !== '') break
  }
  return { events: found, last, headers: response.headers }
}
