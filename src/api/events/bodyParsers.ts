import { isUtf8 } from 'node:buffer'
import { parseEvents } from '../../events/inexactNumbers.ts'
import type { App } from '../../http/context.ts'
import { Problem } from '../../problem.ts'
import type { ParseJson } from './batchBody.ts'

/**
 * Adds the parser of a media type, which refuses bodies that are not UTF-8.
 * @param parse may throw a Problem
 */
export function addBodyParser(app: App, mediaType: string, parse: ParseJson): void {
  app.removeContentTypeParser(mediaType)
  app.addContentTypeParser(mediaType, { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => {
    if (!isUtf8(body)) throw new Problem('invalid_json', 'The body is not UTF-8.')
    return parse(body.toString())
  })
}

/** Refuses bodies that are compressed. Call it once per scope. */
export function refuseCodings(app: App): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const coding = request.headers['content-encoding']?.trim().toLowerCase() ?? ''
    const message = 'The body has a Content-Encoding; send it without one, as UTF-8.'
    done(['', 'identity'].includes(coding) ? null : new Problem('unsupported_media_type', message), payload)
  })
}

/** Opens a parser of JSON that removes dangerous keys and keeps the digits of numbers. */
export function openJsonParser(app: App): ParseJson {
  const parseJson = app.getDefaultJsonParser('remove', 'remove')
  const parse = (text: string) => {
    let parsed: unknown
    parseJson({} as never, text, (error, value) => {
      if (error) throw error
      parsed = value
    })
    return parsed
  }
  return (text) => parseEvents(text, parse)
}
