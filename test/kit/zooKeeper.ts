import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileOf, isInstalled } from './isInstalled.ts'
import { freePort, type ServerProcess, signalsTo } from './serverProcess.ts'
import { until } from './until.ts'

const jars = '/usr/share/java'
const java = fileOf('default-jre-headless')

export const hasZooKeeper = () => isInstalled('libzookeeper-java', 'default-jre-headless')

/**
 * Starts Debian's ZooKeeper on a free port, and waits until it listens.
 * @param folder for its files, which it keeps when it is killed; the caller removes it
 */
export async function startZooKeeper(folder: string): Promise<ServerProcess & { port: number }> {
  const port = await freePort()
  const data = join(folder, 'data')
  const config = join(folder, 'zoo.cfg')
  await mkdir(data, { recursive: true })
  // Sessions may have a timeout of 2 to 20 ticks.
  const settings = ['tickTime=500', `dataDir=${data}`, `clientPort=${port}`, 'clientPortAddress=127.0.0.1']
  await writeFile(config, [...settings, 'admin.enableServer=false', 'maxClientCnxns=0'].join('\n'))
  // Files outlive the process without fsync.
  const options = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Dzookeeper.forceSync=no']
  const classes = [
    '-cp',
    `${jars}/zookeeper.jar:${jars}/slf4j-nop.jar`,
    'org.apache.zookeeper.server.ZooKeeperServerMain',
  ]
  let child: ChildProcess

  async function start(): Promise<void> {
    child = spawn(java, [...options, ...classes, config], { stdio: 'ignore' })
    await until(() => accepts(port))
  }

  await start()
  return { port, start, ...signalsTo(() => child) }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
