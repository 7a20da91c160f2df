import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger } from 'fastify'
import { v7 as uuidv7 } from 'uuid'
import type { ProblemBody } from '../schema/problem.ts'
import { clickRoutes } from './clicks/routes.ts'
import { type Names, openNames } from './names.ts'
import { Problem } from './problem.ts'
import { reportRoutes } from './reports/routes.ts'
import type { App, Room } from './room.ts'
import type { Settings } from './settings.ts'
import type { Stores } from './stores/open.ts'

/** What the server is made of. */
export interface AppParts {
  settings: Settings
  stores: Pick<Stores, 'clickhouse' | 'postgres'>
  /** The present moment in epoch milliseconds. */
  now: () => number
  /** Names of campaigns and the like; opened on `stores` when left out. */
  names?: Names
  /** Where the server logs; nowhere when left out. */
  log?: FastifyBaseLogger
}

/** The rooms under /api/v1, each with its routes. */
const rooms: readonly ((app: App, room: Room) => void)[] = [clickRoutes, reportRoutes]

/** Builds the server, ready to be asked; listening is the caller's. */
export async function buildApp({ stores, now, names = openNames(stores.postgres), log }: AppParts): Promise<App> {
  const app: App = Fastify({
    ...(log && { loggerInstance: log }),
    genReqId: () => uuidv7(),
    return503OnClosing: false,
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.setErrorHandler((error, request, reply) => {
    const problem = error instanceof Problem ? error : new Problem('internal_error', 'A bug of ours.')
    if (problem !== error) request.log.error(error)
    const body: ProblemBody = { error: problem.code, message: problem.message, requestId: request.id }
    return reply.code(problem.status).send(body)
  })
  const room: Room = { stores, names, now }
  await app.register(
    async (api) => {
      for (const addRoutes of rooms) addRoutes(api.withTypeProvider<TypeBoxTypeProvider>(), room)
    },
    { prefix: '/api/v1' },
  )
  await app.ready()
  return app
}
