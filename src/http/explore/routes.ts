import { Problem } from '../../problem.ts'
import type { Settings } from '../../settings/settings.ts'
import type { App } from '../context.ts'
import { pageCsp } from '../securityHeaders.ts'
import { addStaticContent, openStaticFile } from '../staticContent.ts'

export const explorePath = '/explore'

/**
 * Adds the page that shows the numbers of a key, and its files, which `npm run build` makes from src/explore. All are public; the page calls the API with the key. Without
 * `EXPLORE`, only a server on a loopback address has the page.
 */
export function addExplore(app: App, { EXPLORE, HOST }: Settings): void {
  const isServed = EXPLORE === undefined ? /^(127\.[\d.]+|::1|localhost)$/.test(HOST) : EXPLORE === 'on'
  if (!isServed) {
    app.get(explorePath, { schema: { hide: true } }, () => {
      throw new Problem('not_found', 'This server does not serve the page /explore; start it with EXPLORE=on.')
    })
    return
  }
  addStaticContent(app, pageCsp(), {
    [explorePath]: openStaticFile('dist/explore/explore.html', 'text/html; charset=utf-8'),
    [`${explorePath}/explore.js`]: openStaticFile('dist/explore/explore.js', 'text/javascript; charset=utf-8'),
    [`${explorePath}/explore.css`]: openStaticFile('dist/explore/explore.css', 'text/css; charset=utf-8'),
  })
}
