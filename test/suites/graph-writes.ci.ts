import '../graph/conditions.test.ts'
import '../graph/persisted-operations.test.ts'
import '../graph/transactions.test.ts'
import '../graph/writes.test.ts'
