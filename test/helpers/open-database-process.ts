// A process that holds an embedded database open until its standard input ends. Argument: the data folder.
import { openDatabase } from '../../src/database/open-database.ts'

const database = await openDatabase({ dataDir: process.argv[2] ?? '', migrateOnStart: true, poolSize: 2 })
console.log('open')
process.stdin.resume().once('end', () => void database.close())
