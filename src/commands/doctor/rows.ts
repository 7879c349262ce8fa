import type { DatabaseClient } from '../../database/client.ts'
import { allRows } from '../../domain/all-rows.ts'
import type { Detail } from '../../domain/model/errors.ts'
import { isIdentifier } from '../../domain/model/identifiers.ts'
import type { Resource } from '../../domain/model/resource.ts'
import type { Row } from '../../domain/model/row.ts'
import { toValues } from '../../domain/model/rows.ts'
import { inspectResource, runRules } from '../../domain/model/validate.ts'

/** How many rows are named; of the others only the count is told. */
const NAMED_ROWS = 20

/** What is wrong with the rows of a resource: those that, sent as they are, would not be taken. */
export async function refusedRows(client: DatabaseClient, resource: Resource): Promise<string[]> {
  const problems: string[] = []
  let refused = 0
  for await (const row of allRows(client, resource)) {
    const details = problemsOf(resource, row)
    if (details.length === 0) continue
    refused += 1
    if (refused <= NAMED_ROWS) {
      problems.push(`${row.id}: ${details.map(({ code, message }) => `${code} ${message}`).join(' ')}`)
    }
  }
  return refused > NAMED_ROWS ? [...problems, `and ${refused - NAMED_ROWS} more`] : problems
}

function problemsOf(resource: Resource, row: Row): readonly Detail[] {
  const stored = toValues(resource, row)
  const shown = Object.entries(stored).filter(([name]) => name in resource.shownFields)
  const { values, details } = inspectResource(resource, Object.fromEntries(shown))
  const malformed: Detail[] = isIdentifier(row.id)
    ? []
    : [{ field: 'id', code: 'INVALID_VALUE', message: 'id is not an identifier.' }]
  // A row is compared with itself: no change is a change of state that a rule could forbid.
  return [...malformed, ...details, ...runRules(resource.rules, values, values)]
}
