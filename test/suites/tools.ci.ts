import '../tools/new.test.ts'
import '../tools/resource-engine.test.ts'
import '../tools/resource-new.test.ts'
