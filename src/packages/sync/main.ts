#!/usr/bin/env node
import { run } from './program.ts'

// A reader of the help, such as `head`, may have enough. The printing of rows reports its own errors (output.ts).
process.stdout.on('error', () => {})
process.exitCode = await run(process.argv.slice(2), process.env)
