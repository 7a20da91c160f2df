// Creates an empty Postgres database in the given folder, then ends.
import { PGlite } from '@electric-sql/pglite'

process.on('disconnect', () => process.exit(1))

const engine = await PGlite.create(process.argv[2] ?? '')
await engine.close()
process.exit(0)
