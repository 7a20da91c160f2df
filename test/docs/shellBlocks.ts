import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../src/package.ts'

type Language = 'sh' | 'bash' | 'js' | 'php' | 'go'

/** A fenced block of commands or JavaScript, and the block below it, if any: a JSON response or the printed text. */
export interface Block {
  source: string
  /** Its heading of the second level; empty before the first one. */
  section: string
  language: Language
  commands: string[]
  response: unknown
  text: string | undefined
}

/** Reads the blocks of a page that run, in order, each with the `json` or `text` block below it. */
export function blocksOf(page: string, languages: readonly Language[] = ['sh', 'js']): Block[] {
  const lines = readFileSync(join(packageRoot, page), 'utf8').split('\n')
  const blocks: Block[] = []
  let language: string | undefined
  let body: string[] = []
  let start = 0
  let section = ''
  for (const [index, line] of lines.entries()) {
    const fence = /^```(\w*)/.exec(line)
    if (language === undefined) section = /^## (.*)/.exec(line)?.[1] ?? section
    if (language === undefined && fence) {
      language = fence[1] ?? ''
      body = []
      start = index + 1
    } else if (language !== undefined && fence) {
      const known = languages.find((name) => name === language)
      if (known) {
        const commands = known === 'sh' || known === 'bash' ? commandsOf(body) : body
        const source = `${page}:${start}`
        blocks.push({ source, section, language: known, commands, response: undefined, text: undefined })
      }
      const above = blocks.at(-1)
      if (language === 'json' && above) above.response = JSON.parse(body.join('\n'))
      if (language === 'text' && above) above.text = body.join('\n')
      language = undefined
    } else if (language !== undefined) body.push(line)
  }
  return blocks
}

export function inlineCommandsOf(page: string): string[] {
  const text = readFileSync(join(packageRoot, page), 'utf8').replace(/```[\s\S]*?```/g, '')
  return [...text.matchAll(/`((?:npm|npx|curl|node|\.ci\/run)\b[^`]*)`/g)].map(([, command = '']) =>
    command.replace(/\s+/g, ' '),
  )
}

function commandsOf(lines: readonly string[]): string[] {
  const commands: string[] = []
  let rest = ''
  for (const line of lines) {
    const whole = rest + line
    rest = whole.endsWith('\\') ? `${whole.slice(0, -1).trimEnd()} ` : ''
    if (rest === '' && whole.trim() !== '' && !whole.startsWith('#')) commands.push(whole.trim())
  }
  return commands
}

/** @returns how the form of a real response differs from the documented one, which may omit fields and rows */
export function formDifferences(shown: unknown, real: unknown, path = '$'): string[] {
  if (Array.isArray(shown)) {
    if (!Array.isArray(real)) return [`${path} is not a list`]
    return shown.flatMap((element, index) =>
      formDifferences(element, real[Math.min(index, real.length - 1)], `${path}[${index}]`),
    )
  }
  if (typeof shown === 'object' && shown !== null) {
    if (typeof real !== 'object' || real === null) return [`${path} is not an object`]
    return Object.entries(shown).flatMap(([name, value]) =>
      name in real
        ? formDifferences(value, real[name as keyof typeof real], `${path}.${name}`)
        : [`${path}.${name} is missing`],
    )
  }
  const isSameType = typeof shown === typeof real || shown === null || real === null
  return isSameType ? [] : [`${path} is ${typeof real}, not ${typeof shown}`]
}
