import { Type } from '@sinclair/typebox'
import { pageParameters } from '../../schema/page.ts'
import { Id, OneOf } from '../../schema/scalars.ts'
import type { App } from '../../src/http/context.ts'
import { notFound } from '../../src/problem.ts'

export const ProbeQuery = Type.Object({
  ...pageParameters,
  group_by: OneOf(['campaign', 'day']),
  converted: Type.Optional(Type.Boolean()),
  campaign_id: Type.Optional(Type.String({ ...Id, description: 'A campaign.' })),
  q: Type.Optional(Type.String({ minLength: 2, maxLength: 5 })),
})

/** Routes that show which requests pass access control and validation. */
export function probeRoutes(app: App): void {
  app.get(
    '/probe',
    { schema: { tags: ['Probe'], querystring: ProbeQuery }, config: { scope: 'read:clicks' } },
    (request) => ({ query: request.query }),
  )
  app.get(
    '/probe/:id',
    { schema: { tags: ['Probe'], params: Type.Object({ id: Id }) }, config: { scope: 'read:clicks' } },
    ({ params, caller }) => {
      if (params.id !== 'mine') throw notFound()
      const { accountId, subscription } = caller
      return { accountId, plan: subscription.name }
    },
  )
  app.get('/bug', { config: { scope: 'read:clicks' } }, () => {
    throw new Error('a secret detail')
  })
  app.post(
    '/events',
    { schema: { tags: ['Events'], body: Type.Object({}) }, config: { scope: 'write:events' } },
    ({ body }) => ({ body }),
  )
}
