#!/usr/bin/env node
import { runCommand } from './cli/program.ts'

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // The reader of a pipe may have left, as `tributary export … | head` does; there is nobody to tell.
  if (code === 'EPIPE') process.exit(0)
  process.stderr.write(`error: standard output can't be written: ${message}.\n`)
  process.exit(1)
})

const { argv, env: environment, stdout, stderr } = process
process.exitCode = await runCommand(argv.slice(2), { environment, stdout, stderr })
