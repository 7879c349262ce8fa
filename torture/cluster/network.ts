import { execFileSync } from 'node:child_process'
import type { Owner } from '../../test/helpers/database/database.ts'

/** A network of this machine alone: a bridge, and one network namespace for each member behind it. */
export interface Network {
  /** The address of this machine in it. */
  readonly address: string
  readonly hosts: readonly Host[]
}

/** A network namespace, which stands for a machine. */
export interface Host {
  readonly address: string
  readonly namespace: string
  /** The processes in it. */
  processes(): number[]
  /** Sends a signal to all of them, also to those that start meanwhile. */
  signal(signal: NodeJS.Signals): void
  /** Pulls or plugs in the cable: packets vanish both ways. */
  setLink(state: 'up' | 'down'): void
}

/** The folder of the files that stand for namespaces. */
export const NAMESPACES = '/run/netns'

/** Makes a network, gone at teardown. Names and addresses are unlikely to be those of another one. */
export function createNetwork(owner: Owner, hosts: number): Network {
  const name = `hg${process.pid % 100_000}`
  const subnet = `10.${100 + (process.pid % 100)}.${Math.floor(process.pid / 100) % 250}`
  ip('link', 'add', name, 'type', 'bridge')
  owner.teardown(async () => void ip('link', 'delete', name))
  ip('address', 'add', `${subnet}.1/24`, 'dev', name)
  ip('link', 'set', name, 'up')
  const numbers = Array.from({ length: hosts }, (_, index) => index + 1)
  return {
    address: `${subnet}.1`,
    hosts: numbers.map((number) => createHost(owner, name, `${subnet}.${number + 1}`, number)),
  }
}

function createHost(owner: Owner, bridge: string, address: string, number: number): Host {
  const namespace = `${bridge}-${number}`
  const link = `${bridge}v${number}`
  ip('netns', 'add', namespace)
  owner.teardown(async () => void ip('netns', 'delete', namespace))
  ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
  ip('link', 'set', link, 'master', bridge, 'up')
  ip('-n', namespace, 'address', 'add', `${address}/24`, 'dev', 'eth0')
  for (const device of ['eth0', 'lo']) ip('-n', namespace, 'link', 'set', device, 'up')
  const processes = () => ip('netns', 'pids', namespace).split('\n').filter(Boolean).map(Number)
  owner.teardown(async () => signalAll(processes, 'SIGKILL'))
  return {
    address,
    namespace,
    processes,
    signal: (signal) => signalAll(processes, signal),
    setLink: (state) => void ip('link', 'set', link, state),
  }
}

/** A process can start another one between the list and the signal. */
function signalAll(processes: () => number[], signal: NodeJS.Signals): void {
  for (let time = 0; time < 3; time++) {
    for (const id of processes()) {
      try {
        process.kill(id, signal)
      } catch {
        // It has ended meanwhile.
      }
    }
  }
}

function ip(...parameters: string[]): string {
  return execFileSync('ip', parameters, { encoding: 'utf8' })
}
