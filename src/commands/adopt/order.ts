import type { AdoptedTable } from './adopted-table.ts'

/** Tables after those that they refer to, as far as they do not refer to each other. */
export function inOrder(tables: readonly AdoptedTable[]): AdoptedTable[] {
  const ordered: AdoptedTable[] = []
  const waiting = new Set(tables)
  while (waiting.size > 0) {
    const isFree = ({ path, targets }: AdoptedTable) =>
      targets.every((target) => target === path || ![...waiting].some((one) => one.path === target))
    const free = [...waiting].filter(isFree)
    for (const one of free.length > 0 ? free : [...waiting].slice(0, 1)) {
      ordered.push(one)
      waiting.delete(one)
    }
  }
  return ordered
}
