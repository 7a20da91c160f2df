import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import { Button } from './controls.tsx'

const shownMs = 8_000

const NoteContext = createContext<(text: string) => void>(() => {})

/** A function that says for some seconds what was done. */
export const useNote = () => useContext(NoteContext)

/** Shows the notes of its children at the bottom of the window. */
export function Notes({ children }: { children: ComponentChildren }) {
  const [text, setText] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setText(''), shownMs)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <NoteContext.Provider value={setText}>
      {children}
      <p role="status" class="note">
        {text}
      </p>
    </NoteContext.Provider>
  )
}

/**
 * A button that copies a text. Browsers refuse that to pages without TLS: then the text is shown to be copied by hand.
 * @param note shown after the text was copied
 */
export function CopyButton({ text, note, children }: { text: string; note: string; children: ComponentChildren }) {
  const say = useNote()
  async function copy() {
    try {
      await navigator.clipboard.writeText(text)
      say(note)
    } catch {
      prompt('Copy the text:', text)
    }
  }
  return (
    <Button disabled={text === ''} onClick={copy}>
      {children}
    </Button>
  )
}
