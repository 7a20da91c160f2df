import type { ResourceName } from '../../src/import/resourceNames.ts'

/** Text that formats must escape: quotes, separators, line ends, NULL markers and non-ASCII characters. */
const awkward = 'a"b,c|d\\n\\N\r\ne\tf/g \u0001 \u2028 é 漢 😀 \' null'
const subIds = { sub1: awkward, sub2: '"', sub10: '\\' }

/** Rows with every field, and rows with only the required fields. */
export const fullRows: Record<ResourceName, Record<string, unknown>[]> = {
  clicks: [
    {
      ...{ id: 'full', clickedAt: '2026-03-29T00:59:59.999Z', campaignId: 'camp', offerId: 'o', landingPageId: 'l' },
      ...{ trafficSourceId: 's', visitorId: 'v', country: 'DE', region: awkward, city: '漢', device: 'mobile' },
      ...{ os: awkward, osVersion: '1', browser: 'b', browserVersion: '2', language: 'de', referrer: awkward },
      ...{ userAgent: awkward, ip: '2001:db8:1::', subIds, externalClickId: awkward, utmSource: 'u', utmMedium: 'm' },
      ...{ utmCampaign: 'c', utmTerm: 't', utmContent: awkward, cost: -0.000001, currency: 'EUR', costBase: 1.5 },
      ...{ isBot: true, isTest: true },
    },
    { id: 'bare', clickedAt: '1970-01-01T00:00:00.001Z' },
    { id: 'late', clickedAt: '2105-12-31T23:59:59.999Z', cost: 0, ip: '192.0.2.7', isTest: true },
    { id: 'tie', clickedAt: '1970-01-01T00:00:00.001Z', currency: 'JPY' },
  ],
  conversions: [
    {
      ...{
        id: 'full',
        convertedAt: '2026-03-30T00:00:00.5Z',
        status: 'refunded',
        source: 'revenue',
        couponCode: awkward,
      },
      ...{ externalStatus: awkward, eventName: 'p', clickedAt: '2026-03-29T00:00:00Z', clickId: 'elsewhere' },
      ...{ createdAt: '2026-03-30T01:00:00Z', updatedAt: '2026-04-01T00:00:00Z', visitorId: 'v', isTest: true },
      ...{ transactionId: awkward, campaignId: 'camp', offerId: 'o', landingPageId: 'l', trafficSourceId: 's' },
      ...{ country: 'DE', device: 'desktop', os: 'x', browser: awkward, subIds },
      ...{ payout: 0.1, revenue: 12.3, currency: 'GBP', revenueBase: 15.000001 },
    },
    { id: 'bare', convertedAt: '2026-01-01T00:00:00Z', status: 'pending' },
    { id: 'of-click', convertedAt: '2026-03-29T02:00:00Z', status: 'approved', clickId: 'full', revenue: 7 },
  ],
  costs: [
    {
      ...{ id: 'full', spentAt: '2026-03-29T00:00:00.000Z', updatedAt: '2026-03-30T01:02:03.004Z', campaignId: 'camp' },
      ...{ offerId: 'o', landingPageId: 'l', trafficSourceId: 's', country: 'DE', device: 'mobile', os: awkward },
      ...{ browser: awkward, subIds, cost: -0.000001, currency: 'GBP', costBase: 15.000001 },
    },
    { id: 'back', spentAt: '2026-03-30T00:00:00.000Z', updatedAt: '2026-03-31T00:00:00.000Z', cost: 0 },
    { spentAt: '2026-03-31T00:00:00.000Z', updatedAt: '2026-03-31T00:00:00.000Z', campaignId: 'camp', cost: 812.4 },
  ],
  'pixel-events': [
    {
      ...{ id: 'full', eventName: 'purchase', clickId: 'full', visitorId: 'v', campaignId: 'camp', userId: 'u' },
      ...{ value: 0.1 + 0.2, currency: 'USD', occurredAt: '2026-03-29T00:00:00.123Z', origin: 'server', generation: 7 },
      properties: { b: 1e-7, a: awkward, 10: true, 2: -0.5, long: 1234567890.1234567, constructor: 'x' },
      receivedAt: '2026-03-29T00:00:00.124Z',
    },
    { id: 'bare', eventName: 'view', visitorId: 'v', receivedAt: '2026-01-01T00:00:00Z' },
    { id: 'full', eventName: 'view', clickId: 'c', value: -1e12, receivedAt: '2026-01-02T00:00:00Z' },
    { id: 'small', eventName: 'view', clickId: 'c', value: 5e-324, receivedAt: '2026-01-02T00:00:00Z' },
    {
      ...{ id: 'wide', eventName: 'view', clickId: 'c', receivedAt: '2026-01-03T00:00:00Z' },
      properties: { ['😀'.repeat(64)]: '😀'.repeat(256), '': 1 },
    },
  ],
  campaigns: [
    {
      ...{ id: 'camp', name: awkward, userId: 'u', status: 'archived', trafficSourceId: 's', costModel: 'cpc' },
      ...{ costValue: -0.05, currency: 'EUR', tags: ['a|b', '', awkward], createdAt: '2026-01-01T00:00:00.001Z' },
      updatedAt: '2026-02-01T00:00:00Z',
    },
    { id: 'bare', name: 'Bare' },
    { id: 'tags', name: 'Tags', costValue: 1000, tags: ['[x]', 'y'], createdAt: '2025-01-01T00:00:00Z' },
    { id: 'year', name: 'Year', tags: ['[2024]'] },
    { id: 'Z', name: 'Z', tags: ['plain', awkward.replace('|', '')] },
  ],
  offers: [
    {
      ...{ id: 'o', name: awkward, status: 'paused', url: awkward, affiliateNetwork: awkward, payoutType: 'cpa' },
      ...{ payout: 100, currency: 'USD', countries: ['DE', 'FR'], tags: ['[', ']'], createdAt: '2026-01-01T00:00:00Z' },
    },
    { id: 'bare', name: 'Bare' },
  ],
  'landing-pages': [
    { id: 'l', name: awkward, status: 'paused', url: awkward, tags: ['["a"]'] },
    { id: 'bare', name: 'Bare' },
  ],
  'traffic-sources': [
    { id: 's', name: awkward, status: 'archived', category: awkward, costModel: 'cpm', currency: 'EUR' },
    { id: 'bare', name: 'Bare' },
  ],
}
