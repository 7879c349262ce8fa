import { execFileSync } from 'node:child_process'
import { findPrograms } from '../../test/helpers/database/own-server.ts'

/** The programs of a cluster, and the user that they run as. */
export interface Components {
  /** The folder of PostgreSQL's programs. */
  readonly postgres: string
  readonly uid: number
  readonly gid: number
}

/** Programs by the Debian package that has them. */
const PACKAGES = {
  patroni: 'patroni',
  etcd: 'etcd-server',
  haproxy: 'haproxy',
  ip: 'iproute2',
  nsenter: 'util-linux',
}

/** Finds the programs of a cluster, or says what is missing. */
export async function findComponents(): Promise<Components | string> {
  const { uid, gid } = process.getuid?.() === 0 ? postgresUser() : {}
  if (uid === undefined || gid === undefined) return 'only root can make network namespaces'
  for (const [program, name] of Object.entries(PACKAGES)) {
    if (!isInstalled(program)) return `${program} is not installed (Debian package ${name})`
  }
  const programs = await findPrograms(() => {})
  if (!programs) return 'the programs of PostgreSQL are not installed (Debian package postgresql)'
  return { postgres: programs.folder, uid, gid }
}

function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function postgresUser(): { uid?: number; gid?: number } {
  const ask = (what: string) =>
    Number(execFileSync('id', [what, 'postgres'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
  try {
    return { uid: ask('-u'), gid: ask('-g') }
  } catch {
    return {}
  }
}
