import type { FastifyRequest } from 'fastify'
import { Problem } from '../problem.ts'
import type { App } from './context.ts'

/**
 * Responds to requests without a route: 405 with the methods of a known path, 404 for any other path.
 * Call it before the routes are added: it collects them in a hook.
 * @param advice where to find the paths
 */
export function handleUnknownPath(app: App, advice = 'see /api/v1/docs for the paths of the API'): void {
  const known = new Map<string, { pattern: RegExp; methods: Set<string> }>()

  app.addHook('onRoute', ({ url, method }) => {
    const path = known.get(url) ?? { pattern: patternOf(url), methods: new Set() }
    for (const name of [method].flat()) path.methods.add(name)
    known.set(url, path)
  })

  function unknownPath({ method, raw }: FastifyRequest): Problem {
    const [path = ''] = (raw.url ?? '').split('?', 1)
    const found = [...known.values()].filter(({ pattern }) => pattern.test(path))
    const methods = new Set(found.flatMap((route) => [...route.methods]))
    // A wildcard route can match the path and the method of a documentation file that does not exist.
    if (found.length === 0 || methods.has(method)) {
      return new Problem('not_found', `No such path; ${advice}.`)
    }
    const allow = [...methods].sort()
    const text = `Method not allowed; this path supports ${allow.join(', ')}.`
    return new Problem('method_not_allowed', isSentAsRows(method, path) ? text + howRowsArrive : text, { allow })
  }

  // Before the body is read: no route needs it.
  app.addHook('preParsing', (request, _reply, payload, done) => {
    done(isUnknownPath(request) ? unknownPath(request) : null, payload)
  })

  app.setNotFoundHandler((request) => {
    throw unknownPath(request)
  })
}

/** Whether no route matches. TRAP: the router matches `/offers/` with `/offers/:id` and an empty id. */
export function isUnknownPath({ is404, routeOptions, params }: FastifyRequest): boolean {
  return is404 || (routeOptions.config.scope !== undefined && Object.values(params as object).includes(''))
}

const howRowsArrive =
  ' Clicks, conversions and costs arrive by `tributary feed` as they happen, or by `tributary import` from files: docs/feed.md, docs/imports.md.'

function isSentAsRows(method: string, path: string): boolean {
  return /^(POST|PUT|PATCH)$/.test(method) && /^\/api\/v1\/(clicks|conversions|costs)$/.test(path)
}

function patternOf(url: string): RegExp {
  const pattern = url
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replace(/:[A-Za-z]+/g, '[^/]+')
    .replace('*', '.*')
  return new RegExp(`^${pattern}$`)
}
