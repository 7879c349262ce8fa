import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CommandError } from '../../../src/service/command.ts'
import { repositoryPath } from '../location.ts'

/**
 * Lets Prisma generate the client of a schema elsewhere, which refuses more than a validation does.
 *
 * @param schema the text
 * @throws {CommandError} with Prisma's reasons
 */
export async function refuseInvalidSchema(schema: string): Promise<void> {
  const { runPackage } = await import(repositoryPath('scripts/build-service.js'))
  const folder = await mkdtemp(join(tmpdir(), 'halgraph-'))
  // The client is generated beside the folder of the schema.
  const file = join(folder, 'prisma/schema.prisma')
  try {
    await mkdir(join(folder, 'prisma'))
    await writeFile(file, schema)
    await runPackage('prisma', 'build/index.js', ['generate', '--schema', file])
  } catch (cause) {
    const { message } = cause as Error
    const found = [...message.matchAll(/^error: (.*)$|^ *- "(.*)"$/gm)]
    const reasons = found.map(([, reason, reserved]) => `- ${reason ?? `${reserved} has a reserved name`}`)
    throw new CommandError(
      `Nothing was written, because Prisma refuses the schema of these definitions.\n${reasons.join('\n') || message}`,
      { cause },
    )
  } finally {
    await rm(folder, { recursive: true })
  }
}
