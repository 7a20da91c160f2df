import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'

/** Is around the exit code, which follows the output. */
const separator = '\x1e'
const exitCodeOf = new RegExp(`${separator}(\\d+)${separator}`)

/** A shell into which lines are pasted one by one, as in a terminal: variables and functions of earlier lines stay. */
export class Shell {
  readonly #shell: ChildProcessWithoutNullStreams
  readonly #exit: Promise<unknown>
  #stdout = ''
  #stderr = ''

  constructor(cwd: string, env: Record<string, string>) {
    // In a group of its own, which has all programs that the lines start.
    this.#shell = spawn('sh', { cwd, env, detached: true })
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
    // A chunk may end within the exit code, and programs in the background may print after it.
    while (!exitCodeOf.test(this.#stdout) && this.#shell.exitCode === null)
      await Promise.race([once(this.#shell.stdout, 'data'), this.#exit])
    const [output = '', exitCode] = this.#stdout.split(exitCodeOf)
    if (exitCode !== '0') throw new Error(`${lines}\nexited with ${exitCode}:\n${output}${this.#stderr}`)
    return output
  }

  /** Ends the shell, and the programs in the background that a failed line leaves. */
  close(): void {
    const { pid, exitCode } = this.#shell
    if (pid && exitCode === null) process.kill(-pid, 'SIGKILL')
  }
}
