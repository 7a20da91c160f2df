// Imported by the server that `npm run hostile` measures. From one SIGUSR2 to the next it measures the CPU time of the main thread
// in each turn of the event loop, which other processes of the machine do not change, and writes the longest, ms, to LONGEST_TURN_FILE.
import { openSync, readSync, renameSync, writeFileSync } from 'node:fs'

const file = process.env.LONGEST_TURN_FILE
const statistics = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
const text = Buffer.alloc(64)
let isMeasuring = false
let lastMs = 0
let longestMs = 0

function cpuMs() {
  const length = readSync(statistics, text, 0, text.length, 0)
  return Number(text.toString('latin1', 0, length).split(' ')[0]) / 1e6
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
