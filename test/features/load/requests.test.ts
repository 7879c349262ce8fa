import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { FairQueue } from '../../../src/features/load/fair-queue.ts'
import { OperationQueue } from '../../../src/features/load/operation-queue.ts'
import { admitRequests } from '../../../src/features/load/requests.ts'
import type { Context } from '../../../src/http/context.ts'
import { DomainError } from '../../../src/model/errors.ts'

/** Answers a request of ada with a body of so many bytes, beside others; returns the units that ada can use next, of four. */
async function unitsAfter(bytes: number, answer: (ctx: Context) => void): Promise<number> {
  const admission = new OperationQueue({ capacity: 9, share: 4, shareAlone: 9, deadline: 60_000 }, {
    lists: new FairQueue({ capacity: 1, share: 1 }),
  } as never)
  const { queue } = admission
  queue.take('bob', 1)?.end()
  const caller = { identity: 'ada', scopes: new Set(), subject: undefined, claims: {} }
  const ctx = { state: { caller, bodyBytes: bytes }, get: () => '', request: { length: bytes }, status: 200 }
  const next = async () => {
    await delay(20)
    answer(ctx as unknown as Context)
  }
  await Promise.resolve(
    admitRequests(() => ({ queue: admission }) as never)(ctx as unknown as Context, next),
  ).catch(() => {})
  const leases = Array.from({ length: 4 }, () => queue.take('ada', 1)).filter((lease) => lease !== undefined)
  return leases.length
}

const refuse = () => {
  throw new DomainError('VALIDATION_FAILED', 'The resource is not valid.')
}

test('after a large body that an interface refuses, its caller pauses', async (t) => {
  t.is(await unitsAfter(20_000, refuse), 0)
  t.is(await unitsAfter(20_000, (ctx) => Object.assign(ctx, { status: 400 })), 0)
})

test('after a large body that is accepted, its caller pauses as the bytes demand, and after a small one not at all', async (t) => {
  t.is(await unitsAfter(20_000, () => {}), 3)
  t.is(await unitsAfter(70_000, () => {}), 1)
  t.is(await unitsAfter(2_000, refuse), 4)
})
