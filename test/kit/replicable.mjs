// TEST ONLY: makes the embedded engine of this process a replica. libchdb contains clickhouse-local, which has all code for
// replicated tables, but three values that only the program clickhouse-server sets: address, scheme and credentials of the port from
// which other replicas fetch parts. It also refuses to listen on that port. This changes the machine code of one build in memory.
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { DataType, load, open } from 'ffi-rs'

/** The build to which the addresses belong: `@chdb/lib-linux-x64-gnu` 26.7.3-stable.1. */
const buildId = 'd3d8f5517577ad52775b52318a193784b2fb5317'
const buildIdAt = 0x2b8n

/** What is changed, relative to the start of the library. */
const at = {
  /** Context::getInterserverCredentials, getInterserverIOAddress and getInterserverScheme. */
  credentials: 0x1417c940n,
  address: 0x1417c9c0n,
  scheme: 0x1417cac0n,
  /** KillingErrorHandler::exception: clickhouse-local ends with any error of a connection, a server logs the error. */
  connectionError: 0xf113480n,
  /** Where SYSTEM START LISTEN HTTP decides, its branches for both kinds of listeners, and unused bytes before it. */
  decision: 0x18395d32n,
  http: 0x18395ffan,
  interserver: 0x18395dbcn,
  unused: 0x18395c90n,
  /** Zeros behind the variables of the library. */
  zeros: 0x22b98b00n,
}

/** The bytes that must be present before a change. */
const present = {
  credentials: '41574156534c8b3f',
  address: '4156534883ec48',
  scheme: '488b0680b887010000',
  decision: '0f84c2020000',
  unused: 'cc'.repeat(48),
}

/**
 * After it the engine gives replicas the address, and `SYSTEM START LISTEN HTTP` opens HTTP on the first `listen_host` and the port of
 * replicas on the second one. Call it before the engine starts.
 * @param host the second `listen_host`; at most 22 characters
 * @throws Error for another build
 */
export function makeReplicable(libraryPath, host, port) {
  open({ library: 'chdb', path: libraryPath })
  open({ library: 'c', path: 'libc.so.6' })
  const maps = readFileSync('/proc/self/maps', 'utf8').split('\n')
  const line = maps.find((one) => one.endsWith('libchdb.so') && one.split(/\s+/)[2] === '00000000')
  const base = BigInt(`0x${line?.split('-')[0]}`)
  const memory = openSync('/proc/self/mem', 'r')
  const read = (address, length) => {
    const bytes = Buffer.alloc(length)
    readSync(memory, bytes, 0, length, base + address)
    return bytes.toString('hex')
  }
  if (read(buildIdAt, 20) !== buildId)
    throw new Error('Replicas need exactly the build of libchdb that test/kit/replicable.mjs names.')
  for (const [name, hex] of Object.entries(present)) {
    if (read(at[name], hex.length / 2) !== hex) throw new Error(`libchdb has other code at ${name}.`)
  }
  closeSync(memory)

  write(base + at.address, `${setString(host)} 66c74718${hexOf(port, 'writeUInt16LE', 2)} 4889f8 c3`)
  write(base + at.scheme, `${setString('http')} 4889f8 c3`)
  // { user: '', password: '', all_users: [('', '')] }
  const [credentials, users] = [at.zeros + 64n, at.zeros + 256n]
  const vector = [users, users + 48n, users + 48n].map((one) => hexOf(base + one, 'writeBigUInt64LE', 8))
  write(base + credentials + 48n, vector.join(''), false)
  // lea rax, [credentials]; xor edx, edx; ret
  write(base + at.credentials, `488d05${jump(at.credentials + 7n, credentials)} 31d2 c3`)
  // xor byte [zeros], 1; je interserver; jmp http
  const steps = [jump(at.unused + 7n, at.zeros), jump(at.unused + 13n, at.interserver), jump(at.unused + 18n, at.http)]
  write(base + at.unused, `8035${steps[0]}01 0f84${steps[1]} e9${steps[2]}`)
  write(base + at.connectionError, 'c3')
  write(base + at.decision, `0f84${jump(at.decision + 6n, at.unused)}`)
}

/** Fills the string at rdi, as libc++ stores short ones. */
function setString(text) {
  const bytes = Buffer.alloc(24)
  bytes.write(text)
  bytes[23] = text.length
  // movabs rcx, value; mov [rdi + offset], rcx
  return ['00', '08', '10']
    .map((offset, index) => `48b9${bytes.toString('hex', 8 * index, 8 * index + 8)} 48894f${offset}`)
    .join('')
}

const jump = (from, to) => hexOf(Number(to - from), 'writeInt32LE', 4)

function hexOf(value, method, length) {
  const bytes = Buffer.alloc(length)
  bytes[method](value)
  return bytes.toString('hex')
}

const [readable, writable, executable] = [1, 2, 4]
const pageBytes = 0x1000n

function write(address, hex, isCode = true) {
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex')
  if (isCode) protect(address, readable | writable | executable)
  call(
    'memcpy',
    [DataType.BigInt, DataType.U8Array, DataType.BigInt],
    [address, bytes, BigInt(bytes.length)],
    DataType.BigInt,
  )
  if (isCode) protect(address, readable | executable)
}

function protect(address, access) {
  const types = [DataType.BigInt, DataType.BigInt, DataType.I32]
  // The bytes may end on the next page.
  if (call('mprotect', types, [address & -pageBytes, 2n * pageBytes, access], DataType.I32) !== 0)
    throw new Error('mprotect failed')
}

function call(funcName, paramsType, paramsValue, retType) {
  return load({ library: 'c', funcName, retType, paramsType, paramsValue })
}
