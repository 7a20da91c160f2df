// Worker thread of the ClickHouse process. The call runs clickhouse-local and returns when its last statement ends.
import { workerData } from 'node:worker_threads'
import { DataType, load, open } from 'ffi-rs'

const { library, argv } = workerData as { library: string; argv: string[] }
open({ library: 'chdb', path: library })
load({
  library: 'chdb',
  funcName: 'chdb_query_cmdline',
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [argv.length, argv],
})
