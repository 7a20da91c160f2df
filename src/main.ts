#!/usr/bin/env node
import { runCommand } from './cli/program.ts'

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // The reader of a pipe has ended, as in `tributary export … | head`: not an error.
  if (code === 'EPIPE') process.exit(0)
  process.stderr.write(`error: standard output cannot be written: ${message}.\n`)
  process.exit(1)
})

// Messages have no reader, as with `2>&1 | head`.
process.stderr.on('error', () => {})

const { argv, env: environment, stdout, stderr } = process
process.exitCode = await runCommand(argv.slice(2), { environment, stdout, stderr })
