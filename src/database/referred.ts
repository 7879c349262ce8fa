import type { Access } from '../model/access/access.ts'
import type { AccessAction } from '../model/access/access-rules.ts'
import type { RuleClient } from '../model/definition/database-rule.ts'
import type { Resource } from '../model/definition/resource.ts'
import type { Referred } from '../model/query/matches.ts'
import { relatedFilters } from '../model/query/query.ts'
import type { Columns } from '../model/rows/row.ts'
import { filterCondition } from './sql/filter.ts'
import { Parameters, quotedTable } from './sql/statement.ts'

/** Finds what a rule compares in the rows that these refer to, with one statement for each condition on a relation. */
export async function referredOf(
  client: RuleClient,
  access: Access,
  action: AccessAction,
  resource: Resource,
  rows: readonly Columns[],
): Promise<Referred> {
  const found = new Map<object, ReadonlySet<unknown>>()
  const rule = access.rule(action, resource)
  for (const condition of rule ? relatedFilters(rule) : []) {
    const { column, target, related } = condition
    const ids = [...new Set(rows.flatMap((row) => row[column] ?? []))]
    const parameters = new Parameters([ids])
    const text = `SELECT id FROM ${quotedTable(target)} WHERE id = ANY($1) AND ${filterCondition(target, related, parameters)}`
    const values = parameters.values
    const matching = ids.length > 0 ? await client.$rows<{ id: string }>({ text, values }) : []
    found.set(condition, new Set(matching.map(({ id }) => id)))
  }
  return found
}

/** @throws {DomainError} ACCESS_DENIED (403) if the rule does not admit the row */
export async function requireAccess(
  client: RuleClient,
  access: Access,
  action: AccessAction,
  resource: Resource,
  row: Columns,
): Promise<void> {
  access.require(action, resource, row, await referredOf(client, access, action, resource, [row]))
}
