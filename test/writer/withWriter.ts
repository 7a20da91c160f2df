import type { Writer } from '../../src/writer/fence/session.ts'
import { withWriter as openAndClose } from '../../src/writer/openWriter.ts'

/** A writer that prints nothing and is not interrupted. */
export const running = { onMessage: () => {}, signal: new AbortController().signal }

export function withWriter<Result>(
  stores: Writer['stores'],
  account: string,
  work: (writer: Writer) => Promise<Result>,
): Promise<Result> {
  return openAndClose(stores, account, running, work)
}
