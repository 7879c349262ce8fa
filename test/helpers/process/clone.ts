import { execFile } from 'node:child_process'
import { cp, mkdir, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createTestFolder, type Owner } from '../database/database.ts'

/** The files of the project that run or build it, in a folder of their own, without its node_modules. */
export async function createClone(owner: Owner): Promise<string> {
  const folder = await realpath(await createTestFolder(owner, tmpdir()))
  const { stdout } = await promisify(execFile)('git', ['ls-files', '-co', '--exclude-standard'])
  for (const path of stdout.trim().split('\n')) {
    if (/^(bench|docs|test|torture)\//.test(path)) continue
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await cp(path, join(folder, path))
  }
  return folder
}
