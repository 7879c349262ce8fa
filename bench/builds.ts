import { execFile } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Installs and builds a commit in a folder of its own, and returns the folder, and what removes it. */
export async function buildCommit(commit: string) {
  const folder = await mkdtemp(join(tmpdir(), 'halgraph-against-'))
  await run('git', ['worktree', 'add', '--detach', folder, commit])
  const remove = () => run('git', ['worktree', 'remove', '--force', folder])
  try {
    await run('npm', ['ci'], { cwd: folder })
    await run('npm', ['run', 'build'], { cwd: folder })
  } catch (error) {
    await remove()
    throw error
  }
  return { folder, remove }
}
