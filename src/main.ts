#!/usr/bin/env node
import { runCommand } from './cli/run.ts'

// The reader of a pipe may have left, as `tributary export … | head` does; there is nobody to tell.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})

const { argv, env: environment, stdout, stderr } = process
process.exitCode = await runCommand(argv.slice(2), { environment, stdout, stderr })
