import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'

/** Whether these programs are on this machine. Where one is not, the test passes and prints the reason. */
export async function isInstalled(t: ExecutionContext, ...programs: string[]): Promise<boolean> {
  for (const program of programs) {
    const isThere = await promisify(execFile)(program, ['--version']).then(
      () => true,
      () => false,
    )
    if (isThere) continue
    t.log(`not tried: ${program} is not installed`)
    t.pass()
    return false
  }
  return true
}
