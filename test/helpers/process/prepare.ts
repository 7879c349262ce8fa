// Loaded by each process of tests before their files: the modules that wait for something when they are loaded.
import '../database/postgres-server.ts'
import '../domain/domain.ts'
