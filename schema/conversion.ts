/** Where a conversion was reported from: a postback of an affiliate network, or a payment provider. */
export const conversionSources = ['cpa', 'revenue'] as const

/** Every state of a conversion; only `approved` ones count as conversions and revenue. */
export const conversionStatuses = ['approved', 'pending', 'declined', 'hold', 'refunded', 'chargeback'] as const
