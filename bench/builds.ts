import { execFile } from 'node:child_process'
import { mkdtemp, readFile, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT } from './database.ts'

const run = promisify(execFile)

/**
 * Builds a commit in a folder of its own, and returns the folder, and what removes it. It uses the packages that are
 * installed here if it has the same ones.
 */
export async function buildCommit(commit: string) {
  const folder = await mkdtemp(join(tmpdir(), 'halgraph-against-'))
  await run('git', ['worktree', 'add', '--detach', folder, commit])
  const remove = () => run('git', ['worktree', 'remove', '--force', folder])
  try {
    const [own, other] = await Promise.all([PROJECT, folder].map(lockFile))
    if (own === other) await symlink(join(PROJECT, 'node_modules'), join(folder, 'node_modules'))
    else await run('npm', ['ci'], { cwd: folder })
    await run('npm', ['run', 'build'], { cwd: folder })
  } catch (error) {
    await remove()
    throw error
  }
  return { folder, remove }
}

function lockFile(folder: string): Promise<string> {
  return readFile(join(folder, 'package-lock.json'), 'utf8')
}
