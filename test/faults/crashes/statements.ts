/** The statements that a process sends to its stores, from the chunks that it sends. */
export class SentStatements {
  /** Texts of prepared statements of Postgres by name; the names of all connections of a process differ. */
  readonly #prepared = new Map<string, string>()

  /** @returns the statements of Postgres that are executed once it receives the chunk */
  ofPostgres(chunk: Buffer): string[] {
    const executed: string[] = []
    const textAt = (start: number) => chunk.toString('utf8', start, chunk.indexOf(0, start))
    const after = (start: number) => chunk.indexOf(0, start) + 1
    for (let at = 0; at + 5 <= chunk.length; at += 1 + chunk.readUInt32BE(at + 1)) {
      const content = at + 5
      const message = String.fromCharCode(chunk[at] ?? 0)
      if (message === 'P') this.#prepared.set(textAt(content), textAt(after(content)))
      if (message === 'B') executed.push(this.#prepared.get(textAt(after(content))) ?? '')
      if (message === 'Q') executed.push(textAt(content))
    }
    return executed.map((statement) => statement.replace(/\s+/g, ' ').trim()).filter((statement) => statement !== '')
  }

  /** @returns the beginning of the statement of ClickHouse that the chunk has, or the label of the query */
  ofClickHouse(chunk: Buffer): string[] {
    const text = chunk.toString('latin1').replace(/\+|%20|%0A|\s+/g, ' ')
    const [change] = clickHouseChange.exec(text) ?? []
    const [, label] = /[?&]log_comment=([\w.]+)/.exec(text) ?? []
    return change || label ? [change ?? `query ${label}`] : []
  }
}

const clickHouseChange =
  /\b(?:INSERT INTO|DELETE FROM|ALTER TABLE|KILL|OPTIMIZE TABLE|TRUNCATE|DROP|CREATE) [`\w.]+(?: [A-Z]+)?/

/** Whether a statement of Postgres extends a lease. A timer sends some of them: a slow command sends more. */
export function isLeaseExtension(statement: string): boolean {
  return statement.includes('UPDATE leases SET expires_at')
}

/** Whether a statement changes rows. */
export function isChange(statement: string): boolean {
  return clickHouseChange.test(statement) || /\b(?:INSERT INTO|UPDATE|DELETE FROM|COMMIT)\b/i.test(statement)
}
