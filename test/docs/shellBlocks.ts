import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../src/package.ts'

/** A fenced block of commands, and what stands right under it as their answer, if any: JSON, or the text that they print. */
export interface Block {
  /** `README.md:18` */
  place: string
  commands: string[]
  answer: unknown
  text: string | undefined
}

/** Reads the blocks marked `sh` of a page, in order; a `json` or `text` block right under one is its answer. */
export function blocksOf(page: string): Block[] {
  const lines = readFileSync(join(packageRoot, page), 'utf8').split('\n')
  const blocks: Block[] = []
  let language: string | undefined
  let body: string[] = []
  let start = 0
  for (const [index, line] of lines.entries()) {
    const fence = /^```(\w*)/.exec(line)
    if (language === undefined && fence) {
      language = fence[1] ?? ''
      body = []
      start = index + 1
    } else if (language !== undefined && fence) {
      if (language === 'sh') {
        blocks.push({ place: `${page}:${start}`, commands: commandsOf(body), answer: undefined, text: undefined })
      }
      const above = blocks.at(-1)
      if (language === 'json' && above) above.answer = JSON.parse(body.join('\n'))
      if (language === 'text' && above) above.text = body.join('\n')
      language = undefined
    } else if (language !== undefined) body.push(line)
  }
  return blocks
}

/** The commands that a page names within its text. */
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

/** Says in what a real answer does not have the form of the one that is shown; a page may leave fields and rows out. */
export function unlike(shown: unknown, real: unknown, path = '$'): string[] {
  if (Array.isArray(shown)) {
    if (!Array.isArray(real)) return [`${path} is no list`]
    return shown.flatMap((element, index) =>
      unlike(element, real[Math.min(index, real.length - 1)], `${path}[${index}]`),
    )
  }
  if (typeof shown === 'object' && shown !== null) {
    if (typeof real !== 'object' || real === null) return [`${path} is no object`]
    return Object.entries(shown).flatMap(([name, value]) =>
      name in real ? unlike(value, real[name as keyof typeof real], `${path}.${name}`) : [`${path}.${name} is missing`],
    )
  }
  const isOfKind = typeof shown === typeof real || shown === null || real === null
  return isOfKind ? [] : [`${path} is ${typeof real}, not ${typeof shown}`]
}
