import test from 'ava'
import { identityOf } from '../../../src/http/auth/identity.ts'

const signed = 'header.payload'

test('a subject identifies its caller regardless of the token', (t) => {
  for (const subject of ['ada', ' ada', 'https://id.example.org/ada', 'sha256', 'é'.repeat(1000)]) {
    t.is(identityOf(subject, signed), subject)
    t.is(identityOf(subject, 'header.other'), subject)
  }
})

test('without a subject, or with an empty one, the token identifies its caller', (t) => {
  t.is(identityOf(undefined, signed), identityOf('', signed))
  t.not(identityOf(undefined, signed), identityOf(undefined, 'header.other'))
  t.false(identityOf(undefined, signed).includes('payload'))
})

test('no subject is the identity of requests without a token', (t) => {
  const identity = identityOf('anonymous', signed)
  t.not(identity, 'anonymous')
  t.is(identityOf('anonymous', 'header.other'), identity)
})

test('no subject can imitate the digest of a token or of another subject', (t) => {
  const long = 'x'.repeat(2001)
  for (const identity of [identityOf(undefined, signed), identityOf(long, signed)]) {
    t.not(identityOf(identity, signed), identity)
  }
  t.not(identityOf(long, long), identityOf(undefined, long))
})
