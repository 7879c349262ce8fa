import '../access/isolation.test.ts'
import '../service/namespaces.test.ts'
import '../service/open-namespaces.test.ts'
