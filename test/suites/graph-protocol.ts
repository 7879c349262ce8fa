import '../graph/conformance.test.ts'
import '../graph/requests.test.ts'
import '../graph/schema.test.ts'
