import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { styled } from '../../src/service/terminal.ts'
import { repositoryPath } from '../resource/location.ts'
import type { Message } from './version.ts'

/** A version of the domain runs in a process of its own, because a process cannot load changed modules again. */
const VERSION = repositoryPath('dist/version.js')

/** The versions of a domain, of which one serves at a time. */
export class Versions {
  #serving: ChildProcess | undefined
  /** Not yet able to serve. */
  #next: ChildProcess | undefined
  #isAbandoned = false
  #isIntroduced = false
  /** A digest of the tables that the migrations make. */
  #tables = ''

  constructor(private readonly build: () => Promise<void>) {}

  /** Builds the domain, and replaces the version that serves if the new one can. Problems are printed. */
  async update(started = performance.now()): Promise<void> {
    try {
      await this.build()
    } catch (error) {
      const { name, message } = error as Error
      // Files can vanish during a build, which is then repeated.
      if (name !== 'BuildError' && !('syscall' in (error as Error))) throw error
      return console.error(styled(process.stderr, 'red', message))
    }
    if (this.#isAbandoned) return
    const version = fork(VERSION, [this.#tables])
    this.#next = version
    const prepared = await nextMessage(version)
    this.#next = undefined
    if (prepared === undefined) return
    this.#tables = prepared.tables
    // The client of the new tables has to be built.
    if (prepared.kind === 'migrated') return this.update(started)
    await this.stop()
    this.#serving = version
    version.send(this.#isIntroduced ? 'serve' : 'introduce')
    this.#isIntroduced = true
    if (await nextMessage(version))
      console.log(
        `Serving the domain, ${((performance.now() - started) / 1_000).toFixed(1)} s after the change`,
      )
  }

  /** Ends the version that is not yet able to serve, and the one that serves if that cannot wait. */
  abandon(atOnce: boolean): void {
    this.#isAbandoned = true
    this.#next?.kill()
    if (atOnce) this.#serving?.kill('SIGKILL')
  }

  async stop(): Promise<void> {
    const former = this.#serving
    this.#serving = undefined
    if (!former?.connected) return
    const ended = once(former, 'exit')
    former.disconnect()
    await ended
  }
}

/** Undefined if the version has ended, with a message of its own. */
async function nextMessage(version: ChildProcess): Promise<Message | undefined> {
  const ended = once(version, 'exit').then(() => [undefined])
  const [message] = await Promise.race([once(version, 'message'), ended])
  return message as Message | undefined
}
