/** Bytes of JSON whose rows are read in one turn of the event loop, which takes some milliseconds. */
const turnBytes = 256 << 10
/** An empty row counts as so many bytes. */
const rowBytes = 256

/** Divides work on rows by their bytes, so that other work of the process continues between two turns. */
export class Turn {
  #bytes = 0

  /** @param bytes of the next row @returns whether the turn ends before it */
  isOver(bytes: number): boolean {
    this.#bytes += bytes + rowBytes
    if (this.#bytes < turnBytes) return false
    this.#bytes = bytes + rowBytes
    return true
  }
}
