import type { ClientBase } from 'pg'
import type { InputRow } from '../import/read-records.ts'

/** A collection in adopted.json. */
export interface Copied {
  readonly path: string
  readonly table: string
  /** SQL expressions by field. */
  readonly columns: Readonly<Record<string, string>>
}

const ROWS_PER_FETCH = 1_000

/** The rows in the order of their identifiers. */
export async function* rowsOf(
  client: ClientBase,
  place: string,
  { columns }: Copied,
): AsyncGenerator<InputRow> {
  const selected = Object.entries(columns).map(
    ([field, value]) => `${value} AS ${client.escapeIdentifier(field)}`,
  )
  await client.query(
    `DECLARE adopted NO SCROLL CURSOR FOR SELECT row_to_json(adopted_row)::text AS text
     FROM (SELECT ${selected.join(', ')} FROM ${place} ORDER BY ${columns['id']}) AS adopted_row`,
  )
  try {
    for (let line = 1; ; ) {
      const { rows } = await client.query<{ text: string }>(`FETCH ${ROWS_PER_FETCH} FROM adopted`)
      for (const { text } of rows)
        yield { line: line++, bytes: Buffer.byteLength(text), values: JSON.parse(text) }
      if (rows.length < ROWS_PER_FETCH) return
    }
  } finally {
    await client.query('CLOSE adopted')
  }
}
