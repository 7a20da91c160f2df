import type { FastifyRequest } from 'fastify'
import { Problem } from '../problem.ts'
import type { App } from './context.ts'

/** One path of ours, as a pattern of concrete paths, and the methods it answers. */
interface KnownPath {
  pattern: RegExp
  methods: Set<string>
}

/**
 * Answers what no route answers: 405 with the methods that a known path has, 404 for any other path.
 * Register it before the routes, since it learns them as they come.
 */
export function handleUnknownPath(app: App): void {
  const known = new Map<string, KnownPath>()

  app.addHook('onRoute', ({ url, method }) => {
    const path = known.get(url) ?? { pattern: patternOf(url), methods: new Set() }
    for (const name of [method].flat()) path.methods.add(name)
    known.set(url, path)
  })

  function refusalOf({ method, raw }: FastifyRequest): Problem {
    const [path = ''] = (raw.url ?? '').split('?', 1)
    const found = [...known.values()].find(({ pattern }) => pattern.test(path))
    // A path can be known and yet come here with a method of its own: a file of the documentation that does not exist.
    if (!found || found.methods.has(method)) {
      return new Problem('not_found', 'There is no such path; /api/v1/docs lists them all.')
    }
    const allow = [...found.methods].sort()
    return new Problem('method_not_allowed', `This path takes ${allow.join(', ')}.`, { allow })
  }

  // Before the body is read: there is nobody to read it for.
  app.addHook('preParsing', (request, _reply, payload, done) => {
    done(isUnknownPath(request) ? refusalOf(request) : null, payload)
  })

  app.setNotFoundHandler((request) => {
    throw refusalOf(request)
  })
}

/** Whether no route of ours answers. TRAP: the router takes `/offers/` for `/offers/:id` with an empty id. */
export function isUnknownPath({ is404, routeOptions, params }: FastifyRequest): boolean {
  return is404 || (routeOptions.config.scope !== undefined && Object.values(params as object).includes(''))
}

function patternOf(url: string): RegExp {
  const pattern = url
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replace(/:[A-Za-z]+/g, '[^/]+')
    .replace('*', '.*')
  return new RegExp(`^${pattern}$`)
}
