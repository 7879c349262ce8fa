import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify, stripVTControlCharacters } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { openReadableLog } from '../../src/service/observability/log.ts'
import { createEmbedded, createTestFolder } from '../helpers/database/database.ts'
import { MAIN, startProcess } from '../helpers/service/service-process.ts'

/** What a terminal shows of the log; a terminal with colours unless `colours` is false. */
async function terminal(colours = true) {
  const lines: string[] = []
  const output = {
    hasColors: () => colours,
    write: (line: string) => void lines.push(line),
  }
  return { lines, ...(await openReadableLog('info', output)) }
}

const REQUEST = {
  method: 'GET',
  route: '/api/v1/species/:id',
  status: 200,
  seconds: 0.0123,
  requestId: 'x',
  aborted: false,
}

test('on a terminal a request is one readable line', async (t) => {
  const { lines, logger } = await terminal(false)
  logger.info(REQUEST, 'request')
  logger.info(
    { ...REQUEST, route: undefined, path: '/nowhere', status: 503, aborted: true, reason: 'no connection' },
    'request',
  )
  logger.info({ origin: 'http://127.0.0.1:3000' }, 'listening')
  const [served, lost, listening] = lines.map((line) => line.replace(/^\[\d\d:\d\d:\d\d\] /, ''))
  t.is(served, 'INFO: GET /api/v1/species/:id 200 12 ms\n')
  t.is(lost, 'INFO: GET /nowhere (no route) 503 12 ms, client disconnected {"reason":"no connection"}\n')
  t.is(listening, 'INFO: listening {"origin":"http://127.0.0.1:3000"}\n')
})

test('on a terminal a fault is shown with its stack and the request id', async (t) => {
  const { lines, logger } = await terminal(false)
  logger.error({ err: new Error('broken'), requestId: 'r-1' }, 'fault')
  t.regex(lines.join(''), /ERROR: fault \(request r-1\)[\s\S]*broken[\s\S]*\n +at /)
})

test('a terminal with colours gets them', async (t) => {
  const { lines, logger } = await terminal()
  logger.info('stopped')
  const line = lines.join('')
  t.not(line, stripVTControlCharacters(line))
})

test('elsewhere each line of the log is JSON', async (t) => {
  const { dataDir } = await createEmbedded(t)
  const service = startProcess({ DATA_DIR: dataDir, FORCE_COLOR: '1' }, t)
  await fetch(`${await service.origin}/health/live`)
  service.kill('SIGTERM')
  await service.exited
  const messages = service
    .output()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).msg)
  t.deepEqual(messages, ['listening', 'access is restricted', 'request', 'stopping', 'stopped'])
})

test('what is logged while other lines are being written is written before the process ends', async (t) => {
  const module = new URL('service/observability/log.js', pathToFileURL(MAIN))
  const script = `import { openLog } from '${module}'
    const { logger, end } = await openLog('info')
    logger.info('x'.repeat(10_000))
    logger.info('stopped')
    await end()
    process.exit(0)`
  const parameters = ['--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, parameters)
  const [first = '', last = ''] = stdout.split('\n').map((line) => line && JSON.parse(line).msg)
  t.is(first.length, 10_000)
  t.is(last, 'stopped')
})

test('a start that creates the database says that it takes a few seconds', async (t) => {
  const service = startProcess({ DATA_DIR: join(await createTestFolder(t), 'new') }, t)
  await service.origin
  const [first = ''] = service.output().split('\n')
  t.is(JSON.parse(first).msg, 'creating the database, which takes a few seconds')
})

test('the start says in a line for each collection with access rules which actions they restrict', async (t) => {
  const { dataDir } = await createEmbedded(t)
  const service = startProcess({ DATA_DIR: dataDir }, t)
  await service.origin
  service.kill('SIGTERM')
  await service.exited
  const lines = service.output().trim().split('\n')
  const said = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'access is restricted')
  t.deepEqual(
    said.map(({ collection, actions }) => [collection, actions]),
    [['training-records', ['read']]],
  )
})

test('NO_COLOR turns the colours of a terminal off', async (t) => {
  const found = await inTerminal(t, {})
  if (found === undefined) return t.pass()
  t.true(found.includes('\u001b[31mFAIL'), found)
  const plain = (await inTerminal(t, { NO_COLOR: '1' })) ?? ''
  t.true(plain.includes('FAIL'), plain)
  t.false(plain.includes('\u001b['), plain)
})

/** What `doctor` prints on a terminal, which the program `script` makes; undefined where there is none. */
async function inTerminal(t: ExecutionContext, environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  const command = `${process.execPath} dist/halgraph.js doctor`
  const { FORCE_COLOR, NO_COLOR, CI, ...inherited } = process.env
  const env = { ...inherited, TERM: 'xterm-256color', PORT: 'x', ...environment }
  try {
    return (await promisify(execFile)('script', ['-qc', command, '/dev/null'], { env })).stdout
  } catch (error) {
    t.log(`skipped: the program script cannot run: ${(error as Error).message}`)
    return undefined
  }
}
