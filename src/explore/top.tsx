import { useLayoutEffect, useState } from 'preact/hooks'
import type { ResponseOf } from '../packages/client/client.ts'
import { Button, Checkbox, Folding, Select } from './controls.tsx'
import { Freshness } from './freshness.tsx'
import { useSession } from './request.ts'
import { setTheme, storedTheme, themes } from './theme.ts'

const refreshMs = 60_000
const iconAddress = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href

interface TopProps {
  /** The moment of the numbers, and up to when there are clicks; undefined: not known yet. */
  overview: Pick<ResponseOf<'/stats/overview'>, 'asOf' | 'dataThrough'> | undefined
  zone: string
  onRefresh: () => void
  onLeave: () => void
}

/** The account, and what concerns the whole page; on a narrow screen a menu that opens. */
export function Top({ overview, zone, onRefresh, onLeave }: TopProps) {
  const { key } = useSession()
  return (
    <header class="top controls">
      <a class="brand controls" href="explore">
        <img src={iconAddress} alt="" width="26" height="26" />
        Tributary
      </a>
      <span class="account hint" title={`Key: ${key.name}`}>
        <bdi>{key.accountName}</bdi>
      </span>
      <span class="hint">
        Amounts in {key.currency}
        {overview && <Freshness overview={overview} zone={zone} />}
      </span>
      <Folding summary="Menu">
        <nav class="controls" aria-label="Page">
          <Refresh onRefresh={onRefresh} />
          <Select label="Theme" options={themes} value={storedTheme()} onChoose={setTheme} />
          <a href="api/v1/docs">API reference</a>
          <Button onClick={onLeave}>Remove key</Button>
        </nav>
      </Folding>
    </header>
  )
}

/** Reads the numbers again, by the button or each minute while the page is in sight. */
function Refresh({ onRefresh }: { onRefresh: () => void }) {
  const [isRepeated, setRepeated] = useState(true)
  // At once, so that no read follows the pause.
  useLayoutEffect(() => {
    if (!isRepeated) return
    const timer = setInterval(() => document.visibilityState === 'visible' && onRefresh(), refreshMs)
    return () => clearInterval(timer)
  }, [isRepeated])
  return (
    <>
      <Button onClick={onRefresh}>Refresh</Button>
      <Checkbox checked={isRepeated} onCheck={setRepeated}>
        every minute
      </Checkbox>
    </>
  )
}
