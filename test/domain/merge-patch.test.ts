import test from 'ava'
import { mergePatch } from '../../src/domain/write.ts'

// The cases of RFC 7396, appendix A, in its order: original, patch, result.
const CASES: readonly [string, string, string][] = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
]

for (const [original, patch, result] of CASES) {
  test(`RFC 7396: ${original} patched with ${patch} is ${result}`, (t) => {
    const target = JSON.parse(original)
    const change = JSON.parse(patch)
    t.deepEqual(mergePatch(target, change), JSON.parse(result))
    t.is(JSON.stringify(target), original, 'the original stays as it was')
    t.is(JSON.stringify(change), patch, 'the patch stays as it was')
  })
}

test('dates in the target stay dates', (t) => {
  const date = new Date(0)
  t.deepEqual(mergePatch({ a: date, b: 1 }, { b: 2 }), { a: date, b: 2 })
})
