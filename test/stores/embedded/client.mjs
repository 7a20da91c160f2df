// A client process for tests: attaches to the folder it is given and does what its parent says.
import postgres from 'postgres'
import { connectEmbedded } from '../../../dist/src/stores/embedded/connectEmbedded.js'

const engines = await connectEmbedded({ dataDir: process.argv[2], clickhouse: true, postgres: true, log() {} })
process.on('disconnect', () => process.exit(0))
process.on('message', async ({ statement }) => {
  const sql = postgres({ path: engines.postgres.path, max: 1, user: 'postgres', database: 'postgres' })
  await sql.begin(async (transaction) => {
    await transaction.unsafe(statement)
    process.send({ open: true })
    await new Promise(() => {})
  })
})
process.send({ clickhouse: engines.clickhouse, postgres: engines.postgres })
