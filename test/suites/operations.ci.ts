import '../http/pipelining.test.ts'
import '../operations/shutdown.test.ts'
import '../operations/slow-connections.test.ts'
import '../operations/unread-log.test.ts'
