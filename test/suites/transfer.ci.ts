import '../commands/import-refusals.test.ts'
import '../commands/transfer.test.ts'
