import test from 'ava'
import type Koa from 'koa'
import { cacheIdentified } from '../../../src/http/auth/authenticate.ts'

const context = {} as Koa.Context
const caller = { identity: 'reader', scopes: new Set<string>(), subject: undefined, claims: {} }

/** A verification that counts how often it is asked, and accepts only the token `good`. */
function counting(exp?: number) {
  const asked: string[] = []
  const verify = cacheIdentified(async (token) => {
    asked.push(token)
    if (!token.startsWith('good')) throw new Error('refused')
    return { caller, exp }
  })
  return { asked, verify: (token: string) => verify(token, context) }
}

/** Runs with the clock moved on. */
async function after<Result>(seconds: number, run: () => Promise<Result>): Promise<Result> {
  const { now } = Date
  Date.now = () => now() + seconds * 1000
  try {
    return await run()
  } finally {
    Date.now = now
  }
}

test.serial('a token that was verified is not verified again', async (t) => {
  const { asked, verify } = counting()
  t.deepEqual((await verify('good')).caller, caller)
  t.deepEqual((await verify('good')).caller, caller)
  t.deepEqual(asked, ['good'])
})

test.serial('a token that failed is never remembered', async (t) => {
  const { asked, verify } = counting()
  await t.throwsAsync(verify('bad'))
  await t.throwsAsync(verify('bad'))
  t.deepEqual(asked, ['bad', 'bad'])
})

test.serial('an expired token is verified again', async (t) => {
  const { asked, verify } = counting(Math.floor(Date.now() / 1000) + 10)
  await verify('good')
  await after(9, () => verify('good'))
  t.is(asked.length, 1)
  await after(10, () => verify('good'))
  t.is(asked.length, 2)
})

test.serial(
  'a verification is cached for a minute at most, regardless of the lifetime of the token',
  async (t) => {
    const { asked, verify } = counting()
    await verify('good')
    await after(61, () => verify('good'))
    t.is(asked.length, 2)
  },
)

test.serial('no more than a thousand tokens are remembered', async (t) => {
  const { asked, verify } = counting()
  for (let number = 0; number <= 1000; number++) await verify(`good ${number}`)
  await verify('good 1000')
  t.is(asked.length, 1001)
  await verify('good 0')
  t.is(asked.length, 1002)
})
