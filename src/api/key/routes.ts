import { Key } from '../../../schema/key.ts'
import type { App } from '../../http/context.ts'
import { toInstantText } from '../../query/timeRange.ts'

export function keyRoutes(app: App): void {
  app.get('/key', {
    schema: {
      tags: ['Account'],
      summary: 'Get the API key',
      description:
        'Account, scopes, expiry and rate limits of the key that the request was sent with. Use it to check a key.',
      response: { 200: Key },
    },
    config: { scope: 'any', servesView: () => true },
    handler: async ({ caller }): Promise<Key> => {
      const { accountId, accountName, currency, keyId, keyName, scopes, expiresAtMs, subscription, view } = caller
      const { requestsPerMinute, eventsPerMinute, identifierEventsPerMinute } = subscription
      return {
        id: keyId,
        name: keyName,
        accountId,
        accountName,
        currency,
        plan: subscription.name,
        scopes: [...scopes],
        ...(view && { filters: view.filters, hidden: [...view.hiddenNames] }),
        expiresAt: expiresAtMs === null ? null : toInstantText(expiresAtMs),
        limits: { requestsPerMinute, eventsPerMinute, identifierEventsPerMinute },
      }
    },
  })
}
