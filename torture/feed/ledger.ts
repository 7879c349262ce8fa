import type { Client } from 'pg'
import type { Outcome } from '../../test/helpers/load/load.ts'

/** Which resource changed, how, and to which version: `moons/p1/m2 3 changed`. */
export type Change = `${string}/${string}/${string} ${number} ${'created' | 'changed' | 'deleted'}`

/** What writers were told. */
export class Ledger {
  /** Acknowledged changes whose version the response tells. */
  readonly changes: Change[] = []
  /** Acknowledged deletions of each resource, whose versions no response tells. */
  readonly deletions = new Map<string, number>()
  readonly answers: Record<string, number> = {}
  #deleted = 0

  get count(): number {
    return this.changes.length + this.#deleted
  }

  /** Writes without an acknowledgement, by reason. */
  note(reason: string): void {
    this.answers[reason] = (this.answers[reason] ?? 0) + 1
  }

  delete(resource: string): void {
    this.deletions.set(resource, (this.deletions.get(resource) ?? 0) + 1)
    this.#deleted++
  }

  /** Notes a result of one write to a collection, in which its entity tag has identifier and version. */
  result(method: string, list: string, path: string, status: number, tag: unknown): void {
    const [, id, version] = /^"([^:]+):(\d+)"$/.exec(String(tag)) ?? []
    if (status === 204 && method === 'DELETE') this.delete(`${list}/${path.split('/').at(-1)}`)
    else if ((status === 201 || status === 204) && version !== undefined)
      this.changes.push(`${list}/${id} ${version} ${status === 201 ? 'created' : 'changed'}` as Change)
    else this.note(String(status))
  }

  outcome(outcome: Outcome): void {
    if (outcome.kind !== 'answered') this.note(outcome.kind)
    else this.note(String(outcome.status))
  }
}

/** The collection, and the parent, of a path: `moons/p1` of `/planets/p1/moons/m2`. */
export function listOf(path: string): string {
  const [, collection, parent, owned] = path.split('/')
  return owned === undefined ? `${collection}/` : `${owned}/${parent}`
}

/** Every committed change, noted by triggers that have nothing in common with those of the feed. */
export async function noteCommitted(client: Client): Promise<void> {
  await client.query(`
    CREATE TABLE committed_changes (resource text, version integer, event text);
    CREATE FUNCTION note_committed() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      written jsonb := to_jsonb(COALESCE(NEW, OLD));
    BEGIN
      IF TG_OP <> 'UPDATE' OR NEW.version <> OLD.version THEN
        INSERT INTO public.committed_changes VALUES (
          concat_ws('/', TG_TABLE_NAME, COALESCE(written ->> TG_ARGV[0], ''), written ->> 'id'),
          (written ->> 'version')::integer,
          CASE TG_OP WHEN 'INSERT' THEN 'created' WHEN 'UPDATE' THEN 'changed' ELSE 'deleted' END);
      END IF;
      RETURN NULL;
    END $$`)
  for (const [table, parent] of [
    ['planets', ''],
    ['species', ''],
    ['moons', 'planet_id'],
  ])
    await client.query(`CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON ${table}
      FOR EACH ROW EXECUTE FUNCTION note_committed('${parent}')`)
}

export async function committed(client: Client): Promise<Change[]> {
  const { rows } = await client.query('SELECT resource, version, event FROM committed_changes')
  return rows.map(({ resource, version, event }) => `${resource} ${version} ${event}` as Change)
}

/** The version of each resource that exists. */
export async function current(client: Client): Promise<Map<string, number>> {
  const { rows } = await client.query(`
    SELECT 'planets//' || id AS resource, version FROM planets
    UNION ALL SELECT 'species//' || id, version FROM species
    UNION ALL SELECT 'moons/' || planet_id || '/' || id, version FROM moons`)
  return new Map(rows.map(({ resource, version }) => [resource, version]))
}
