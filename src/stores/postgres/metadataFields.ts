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
