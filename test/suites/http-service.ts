import '../http/content/compression.test.ts'
import '../http/lost-connections.test.ts'
import '../http/observability.test.ts'
import '../http/responses.test.ts'
