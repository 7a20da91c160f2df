/** A subcommand failed for an expected reason; the message is one line. Exit code 1. */
export class CommandError extends Error {
  override name = 'CommandError'
}

/** Invalid arguments or options; the message is one line that says what is allowed. Exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}
