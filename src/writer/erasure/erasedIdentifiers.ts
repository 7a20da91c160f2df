import type { WriteSession } from '../fence/session.ts'
import type { Click } from '../tables/click.ts'
import type { Conversion } from '../tables/conversion.ts'
import { groupBy } from '../tables/groupBy.ts'
import type { PixelEvent } from '../tables/pixelEvent.ts'
import { type ErasedKind, type Erasure, erasuresOf, identifierHash, type ListedClick } from './erasures.ts'
import { blank, ownConversionFields, personalOfClick, personalOfEvent } from './personalFields.ts'

/** Blanks the personal fields of imported rows of visitors and clicks that were erased after the time of the row. */
export class ErasedIdentifiers {
  /** The end of the erased time by hash, epoch milliseconds, inclusive. */
  readonly #erasedMs: ReadonlyMap<string, number>
  readonly #keys: readonly string[]

  private constructor(erasures: readonly Erasure[]) {
    this.#erasedMs = new Map(erasures.map(({ hash, erasedMs }) => [hash, erasedMs]))
    this.#keys = [...new Set(erasures.map(({ key }) => key))]
  }

  /** Reads the erasures of accounts; they do not change while these are claimed. @returns the accounts that have any */
  static async read(session: WriteSession, accountIds: readonly string[]): Promise<Map<string, ErasedIdentifiers>> {
    const erasures: (Erasure & { accountId: string })[] = []
    for await (const page of erasuresOf(session, accountIds, 'all')) erasures.push(...page)
    const byAccount = groupBy(erasures, ({ accountId }) => accountId)
    return new Map(Array.from(byAccount, ([id, all]) => [id, new ErasedIdentifiers(all)]))
  }

  blankClick(click: Click & ListedClick): void {
    const ofVisitor = this.#find('visitor', click.visitorId, click.clickedAt)
    if (!ofVisitor && !this.#find('click', click.id, click.clickedAt)) return
    blank(click, personalOfClick)
    if (!ofVisitor) return
    const hash = identifierHash(ofVisitor.key, 'click', click.id)
    if (!this.#erasedMs.has(hash)) click.erasure = { ...ofVisitor, kind: 'click', hash }
  }

  blankConversion(conversion: Conversion): void {
    const { visitorId, clickId, convertedAt } = conversion
    if (this.#isErased(visitorId, clickId, convertedAt)) blank(conversion, ownConversionFields)
  }

  blankEvent(event: PixelEvent): void {
    // The earlier time counts: senders choose `occurredAt`, and `receivedAt` is the present unless the row has it.
    const datedMs = Math.min(event.occurredAt, event.receivedAt)
    if (this.#isErased(event.visitorId, event.clickId, datedMs)) blank(event, personalOfEvent)
  }

  #isErased(visitorId: string, clickId: string, datedMs: number): boolean {
    return (this.#find('visitor', visitorId, datedMs) ?? this.#find('click', clickId, datedMs)) !== undefined
  }

  /** @returns the key and the time of the erasure */
  #find(kind: ErasedKind, id: string, datedMs: number): Pick<Erasure, 'key' | 'erasedMs'> | undefined {
    if (id === '') return undefined
    for (const key of this.#keys) {
      const erasedMs = this.#erasedMs.get(identifierHash(key, kind, id))
      if (erasedMs !== undefined && datedMs <= erasedMs) return { key, erasedMs }
    }
    return undefined
  }
}
