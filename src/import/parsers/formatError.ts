/** A file cannot be read in its format, so none of its rows is; the message says what the file is or has: `its header …`. */
export class FormatError extends Error {
  override name = 'FormatError'
}
