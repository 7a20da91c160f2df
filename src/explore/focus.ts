/** Moves the focus to the nearest place around an element that is removed while it has the focus: a row, a chip, a field. */
export function keepFocus(): void {
  let focused: Node | undefined
  let places: HTMLElement[] = []
  addEventListener('focusin', ({ target }) => {
    focused = target as Node
    places = [...document.querySelectorAll<HTMLElement>('[tabindex="-1"]')].filter((place) =>
      place.contains(focused as Node),
    )
  })
  new MutationObserver(() => {
    if (focused?.isConnected !== false || document.activeElement !== document.body) return
    places.findLast((place) => place.isConnected)?.focus({ preventScroll: true })
  }).observe(document.body, { childList: true, subtree: true })
}

/** Closes menus: by Escape, by a choice, and by a click or a focus outside of them. */
export function closeMenus(): void {
  const closeOthers = ({ target }: Event) => {
    for (const menu of document.querySelectorAll<HTMLDetailsElement>('.menu[open]'))
      if (!menu.contains(target as Node)) menu.open = false
  }
  for (const name of ['pointerdown', 'focusin']) addEventListener(name, closeOthers)
  /** Moves the focus to the button of the menu. */
  function close(inside: Element | null) {
    const summary = inside?.closest('.menu[open]')?.querySelector('summary')
    summary?.click()
    summary?.focus()
  }
  addEventListener('keydown', ({ key, target }) => key === 'Escape' && close(target as Element))
  addEventListener('click', ({ target }) => close((target as Element).closest('.choices button')))
}
