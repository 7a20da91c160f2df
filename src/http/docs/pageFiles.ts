import { openStaticFile, type StaticContent } from '../staticContent.ts'

/** Files that the documentation page loads, by name. `npm run build` copies them from `page/`, and the script of Scalar from its package. */
export const pageFiles: Readonly<Record<string, StaticContent>> = {
  'favicon.svg': openStaticFile('dist/docs/page/favicon.svg', 'image/svg+xml'),
  'page.css': openStaticFile('dist/docs/page/page.css', 'text/css; charset=utf-8'),
  'scalar.js': openStaticFile('dist/docs/page/scalar.js', 'application/javascript; charset=utf-8'),
  'storage.js': openStaticFile('dist/explore/storage.js', 'text/javascript; charset=utf-8'),
  'page.js': openStaticFile('dist/docs/page/page.js', 'text/javascript; charset=utf-8'),
}
