// Imported by the server that `npm run hostile` measures. From one SIGUSR2 to the next it measures the CPU time of the main thread
// in each turn of the event loop, which other processes of the machine do not change, and writes the longest, ms, to LONGEST_TURN_FILE.
import { renameSync, writeFileSync } from 'node:fs'
import { DataType, load, open } from 'ffi-rs'

const file = process.env.LONGEST_TURN_FILE
const time = Buffer.alloc(16)
let isMeasuring = false
let lastMs = 0
let longestMs = 0

open({ library: 'libc', path: 'libc.so.6' })
// TRAP: the statistics of /proc have steps of 4 ms.
const clockGettime = {
  library: 'libc',
  funcName: 'clock_gettime',
  retType: DataType.I32,
  paramsType: [DataType.I32, DataType.U8Array],
  paramsValue: [3, time],
}

/** CLOCK_THREAD_CPUTIME_ID is 3; see time.h. */
function cpuMs() {
  load(clockGettime)
  return Number(time.readBigInt64LE(0)) * 1e3 + Number(time.readBigInt64LE(8)) / 1e6
}

function measureTurn() {
  const nowMs = cpuMs()
  longestMs = Math.max(longestMs, nowMs - lastMs)
  lastMs = nowMs
  if (isMeasuring) setImmediate(measureTurn)
}

process.on('SIGUSR2', () => {
  isMeasuring = !isMeasuring
  if (isMeasuring) {
    longestMs = 0
    lastMs = cpuMs()
    setImmediate(measureTurn)
  } else {
    measureTurn()
    writeFileSync(`${file}.new`, String(longestMs))
    renameSync(`${file}.new`, file)
  }
})
