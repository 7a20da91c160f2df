/** Moves the focus to the nearest place around an element that is removed while it has the focus: a row, a chip, a field. */
export function keepFocus(): void {
  let focused: Node | undefined
  let places: HTMLElement[] = []
  addEventListener('focusin', ({ target }) => {
    focused = target as Node
    const all = document.querySelectorAll<HTMLElement>('[tabindex="-1"]')
    places = [...all].filter((place) => place.contains(focused as Node))
  })
  new MutationObserver(() => {
    if (focused?.isConnected !== false || document.activeElement !== document.body) return
    places.findLast((place) => place.isConnected)?.focus({ preventScroll: true })
  }).observe(document.body, { childList: true, subtree: true })
}
