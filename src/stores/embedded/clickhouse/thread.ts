// Worker thread of the ClickHouse process. The call runs clickhouse-local and returns when its last statement ends.
import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { DataType, load, open } from 'ffi-rs'
import { confineThread, type FileAccess } from './landlock.ts'

export interface ClickHouseCall {
  library: string
  argv: string[]
  /** The files that the engine may use; any, unless given. */
  files?: FileAccess
}

const { library, argv, files } = workerData as ClickHouseCall
open({ library: 'chdb', path: library })
// A query reads any file by the function `file`, which clickhouse-local limits neither by grants nor to a folder.
if (files && !confineThread(files)) {
  // Not console.error, which would wait for this thread, and the call never returns.
  writeSync(2, 'This system has no Landlock: only grants protect files from ClickHouse queries.\n')
}
load({
  library: 'chdb',
  funcName: 'chdb_query_cmdline',
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [argv.length, argv],
})
