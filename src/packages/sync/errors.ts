/** Invalid arguments; the message is one line that says what is allowed. Exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** A synchronization failed for an expected reason; the message is one line. Exit code 1. */
export class SyncError extends Error {
  override name = 'SyncError'
}

/** Rows still differ after they were replaced, since they change at the same time. A later comparison may succeed. */
export class StillDifferent extends SyncError {
  override name = 'StillDifferent'
}
