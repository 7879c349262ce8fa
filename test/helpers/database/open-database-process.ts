// A process that holds an embedded database open until its standard input ends. Argument: the data folder.
import { openTestDatabase } from './database.ts'

const database = await openTestDatabase({
  dataDir: process.argv[2] ?? '',
  migrateOnStart: true,
  databasePoolSize: 2,
})
console.log('open')
process.stdin.resume().once('end', () => void database.close())
