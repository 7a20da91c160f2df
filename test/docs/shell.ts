import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'

/** Ends the output of a line; the exit code of the line is in front of it. */
const separator = '\x1e'

/** A shell into which lines are pasted one by one, as in a terminal: variables and functions of earlier lines stay. */
export class Shell {
  readonly #shell: ChildProcessWithoutNullStreams
  readonly #exit: Promise<unknown>
  #stdout = ''
  #stderr = ''

  constructor(cwd: string, env: Record<string, string>) {
    this.#shell = spawn('sh', { cwd, env })
    this.#exit = once(this.#shell, 'exit')
    this.#shell.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text
    })
    this.#shell.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text
    })
  }

  /** Runs lines and returns their standard output. @throws Error with their output if the last of them fails */
  async paste(lines: string): Promise<string> {
    this.#stdout = ''
    this.#stderr = ''
    this.#shell.stdin.write(`${lines}\nprintf '${separator}%s${separator}' $?\n`)
    while (!this.#stdout.endsWith(separator) && this.#shell.exitCode === null) {
      await Promise.race([once(this.#shell.stdout, 'data'), this.#exit])
    }
    const [output = '', exitCode] = this.#stdout.split(separator)
    if (exitCode !== '0') throw new Error(`${lines}\nexited with ${exitCode}:\n${output}${this.#stderr}`)
    return output
  }

  close(): void {
    this.#shell.kill('SIGKILL')
  }
}
