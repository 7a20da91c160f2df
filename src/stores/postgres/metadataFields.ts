import type { NamedTable } from '../../../schema/metadata.ts'

/** `required` and `status` are text that is never absent, `list` an array of texts, perhaps empty; others are null when absent. */
export type MetadataKind = 'required' | 'status' | 'text' | 'money' | 'list' | 'instant'

const named = { id: 'required', name: 'required' } as const
const dated = { createdAt: 'instant', updatedAt: 'instant' } as const

/** The fields of the metadata tables, in the order of imports and exports, with the kind of each column. */
export const metadataFields = {
  campaigns: {
    ...named,
    userId: 'required',
    status: 'status',
    trafficSourceId: 'text',
    costModel: 'text',
    costValue: 'money',
    currency: 'text',
    tags: 'list',
    ...dated,
  },
  offers: {
    ...named,
    status: 'status',
    url: 'text',
    affiliateNetwork: 'text',
    payoutType: 'text',
    payout: 'money',
    currency: 'text',
    countries: 'list',
    tags: 'list',
    ...dated,
  },
  landing_pages: { ...named, status: 'status', url: 'text', tags: 'list', ...dated },
  traffic_sources: { ...named, status: 'status', category: 'text', costModel: 'text', currency: 'text', ...dated },
} as const satisfies Record<NamedTable, Record<string, MetadataKind>>

/** Values in memory: instants are epoch milliseconds, amounts are millionths. */
interface Values {
  required: string
  status: string
  text: string | null
  money: bigint | null
  list: string[]
  instant: number | null
}

export type MetadataRowOf<Table extends NamedTable> = {
  -readonly [Name in keyof (typeof metadataFields)[Table]]: (typeof metadataFields)[Table][Name] extends MetadataKind
    ? Values[(typeof metadataFields)[Table][Name]]
    : never
}

const absent: { [Kind in MetadataKind]: () => Values[Kind] } = {
  required: () => '',
  status: () => 'active',
  text: () => null,
  money: () => null,
  list: () => [],
  instant: () => null,
}

export function blankMetadata<Table extends NamedTable>(table: Table): MetadataRowOf<Table> {
  const blank = Object.entries<MetadataKind>(metadataFields[table]).map(([name, kind]) => [name, absent[kind]()])
  return Object.fromEntries(blank) as MetadataRowOf<Table>
}
