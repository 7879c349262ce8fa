import { run as cluster } from './cluster.ts'
import { run as database } from './database.ts'
import { run as disk } from './disk.ts'
import { run as feed } from './feed.ts'
import { run as hostile } from './hostile.ts'
import { run as kill } from './kill.ts'
import { run as overload } from './overload.ts'
import { run as pooler } from './pooler.ts'
import { run as power } from './power.ts'
import { run as shutdown } from './shutdown.ts'
import { Skipped } from './skipped.ts'
import { run as slow } from './slow.ts'

const usage = `Long runs that show what the service survives, and in what figures.

  npm run torture -- kill [rounds] [embedded | fsync | postgresql]        kill -9 under write load
  npm run torture -- shutdown [times]     SIGTERM under load
  npm run torture -- overload [seconds]   four times what it can serve
  npm run torture -- hostile [seconds]    one caller after the other asks for too much; others notice little
  npm run torture -- slow [connections]   connections that send or read slowly
  npm run torture -- database             a server that is down, vanishes, is stopped, or has slow sessions
  npm run torture -- pooler [rounds]      1,000 connections over 20 sessions of PgBouncer in transaction mode
  npm run torture -- power [cuts]         a power cut under the embedded database (as root)
  npm run torture -- disk                 a server whose disk is full (as root, with PostgreSQL installed)
  npm run torture -- feed [writes] [killed | subscribers]
                                          consumers of the feed of changes see each write once, in one order, also
                                          late commits, and while a process is killed; 1,000 subscribers
  npm run torture -- cluster [rounds] [killed | frozen | partitioned | switched]
                                          a PostgreSQL cluster loses its primary (as root, with Debian packages:
                                          postgresql, patroni, etcd-server, haproxy, iproute2)

PostgreSQL is TEST_DATABASE_URL, or a server without a password on this machine. Exit status 1 when a
promise of docs/OPERATIONS.md is broken.`

const commands: Record<string, (argument: number | undefined, only?: string) => Promise<string[]>> = {
  kill,
  shutdown,
  overload,
  hostile,
  slow,
  database,
  disk,
  pooler,
  power,
  feed,
  cluster,
}

const [name = '', argument, only] = process.argv.slice(2)
const command = commands[name]
if (command) {
  const broken = await command(argument === undefined ? undefined : Number(argument), only).catch(
    (error: unknown) => {
      if (!(error instanceof Skipped)) throw error
      console.log(`${name}: skipped: ${error.message}`)
      process.exit(0)
    },
  )
  for (const problem of broken) console.log(`BROKEN: ${problem}`)
  if (broken.length === 0) console.log(`${name}: every promise kept`)
  process.exit(broken.length === 0 ? 0 : 1)
}
console.log(usage)
process.exit(2)
