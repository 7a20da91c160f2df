// The baseline of bench/events.ts: a Fastify server with one route that validates the same body and discards it.
import Fastify from 'fastify'
import { EventBody } from '../schema/event.ts'

const app = Fastify()
app.post('/api/v1/events', { schema: { body: EventBody } }, async () => ({ accepted: true }))
console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
