import { escapeLiteral as literal } from 'pg'

/**
 * Changes a member of the recorded states before changes: a row, or an array of the rows of a large deletion.
 *
 * @param change makes the SQL expression of a state that has the member
 */
export function changeStates(path: string, member: string, change: (state: string) => string): string {
  const changed = (state: string) =>
    `CASE WHEN ${state} ? ${literal(member)} THEN ${change(state)} ELSE ${state} END`
  const rows = `SELECT jsonb_agg(${changed('one.state')} ORDER BY one.place) FROM jsonb_array_elements("before") WITH ORDINALITY AS one (state, place)`
  return `UPDATE "recorded_changes" SET "before" = CASE jsonb_typeof("before") WHEN 'array' THEN (${rows}) ELSE ${changed('"before"')} END WHERE "collection" = ${literal(path)} AND jsonb_typeof("before") IN ('object', 'array')`
}
