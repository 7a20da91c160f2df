// A ClickHouse server in a separate process: `node clickhouseProcess.mjs DATA_FOLDER CONFIG_FILE PORT
// [TCP_PORT [REPLICA_HOST]]`. It ends when its standard input closes, and otherwise only by SIGKILL, since the engine's call never
// returns.
import { Worker } from 'node:worker_threads'
import { libchdbPath } from 'chdb/libchdb'
import { startStatements } from '../../dist/src/stores/embedded/clickhouse/config.js'

const [folder, configFile, port, tcpPort, replicaHost] = process.argv.slice(2)
const argv = [
  'clickhouse',
  `--path=${folder}`,
  `--http_port=${port}`,
  // The configuration of a replica names two.
  ...(replicaHost ? [] : ['--listen_host=127.0.0.1']),
  `--config-file=${configFile}`,
  ...(tcpPort ? [`--tcp_port=${tcpPort}`] : []),
]
if (replicaHost) (await import('./replicable.mjs')).makeReplicable(libchdbPath(), replicaHost, Number(port))
const listenForNodes = tcpPort ? 'SYSTEM START LISTEN TCP;' : ''
new Worker(new URL('../../dist/src/stores/embedded/clickhouse/thread.js', import.meta.url), {
  workerData: {
    library: libchdbPath(),
    argv: [...argv, '--query', listenForNodes + startStatements(`${folder}.port`)],
  },
})
process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL')).resume()
