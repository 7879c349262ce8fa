import { openExistingDatabase } from '../database/database.ts'
import { beginTimeline } from '../domain/recording.ts'
import { CommandError, databaseConfiguration, runCommand } from '../service/command.ts'
import { withDatabase } from './shared-database.ts'

const usage = `Prepares a database that was restored from a backup. Run it before the service starts.

  npx halgraph restored

Changes after the backup are lost, but clients may have their entity tags and their positions in the feed of
changes. After this command, new changes get higher versions and positions, and a lost position is refused (410),
so that the client reads again. No other database from the same backup gives these numbers. Sequences that logical
replication has left behind are moved. A standby that was promoted, or a server that was restored to an earlier time from
its archive, needs no command: the database notices its new timeline.`

await runCommand(usage, {}, async () => {
  const configuration = await databaseConfiguration()
  const use = async ({ client }: { readonly client: Parameters<typeof beginTimeline>[0] }) => {
    if (await beginTimeline(client)) return
    throw new CommandError(
      'The database lacks the migration tell_lives_apart: run `npx halgraph resource migrate` first',
    )
  }
  await withDatabase(configuration, use, openExistingDatabase)
  console.log('The next changes get higher versions and positions than any that may be lost')
})
