import '../commands/commands.test.ts'
import '../commands/doctor.test.ts'
import '../commands/export.test.ts'
import '../commands/seed.test.ts'
