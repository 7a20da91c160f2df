import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button } from './controls.tsx'

const shownMs = 8_000

/** A place that says for some seconds what was done, and the function that sets its text. It covers nothing. */
export function useNote() {
  const [text, setText] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setText(''), shownMs)
    return () => clearTimeout(timer)
  }, [text])
  const note = (
    <span role="status" class="note hint">
      {text}
    </span>
  )
  return [note, setText] as const
}

/**
 * A button that copies a text. Browsers refuse that to pages without TLS: then the text is shown to be copied by hand.
 * @param done said after the text was copied
 */
export function CopyButton({ text, done, children }: { text: string; done: string; children: ComponentChildren }) {
  const [note, say] = useNote()
  async function copy() {
    try {
      await navigator.clipboard.writeText(text)
      say(done)
    } catch {
      prompt('Copy the text:', text)
    }
  }
  return (
    <>
      <Button disabled={text === ''} onClick={copy}>
        {children}
      </Button>
      {note}
    </>
  )
}
