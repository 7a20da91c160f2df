/** Ends what a script has started, the last one first: when the script says so, and when it receives SIGINT or SIGTERM. */
export class CleanUp {
  readonly #actions: (() => unknown)[] = []
  #running: Promise<void> | undefined

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => this.run().finally(() => process.exit(1)))
  }

  add(action: () => unknown): void {
    this.#actions.push(action)
  }

  /** Runs every action once, also after one has failed. */
  run(): Promise<void> {
    this.#running ??= this.#runAll().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #runAll(): Promise<void> {
    for (let action = this.#actions.pop(); action; action = this.#actions.pop()) {
      try {
        await action()
      } catch (error) {
        console.error(error)
        process.exitCode = 1
      }
    }
  }
}
