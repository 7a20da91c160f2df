const item = 'tributary-theme'

/** Values of `color-scheme` and their labels. */
export const themes = { 'light dark': 'Theme of the system', light: 'Light', dark: 'Dark' } as const
type ThemeName = keyof typeof themes

/** The theme that was chosen in this browser. */
export function storedTheme(): ThemeName {
  const stored = localStorage.getItem(item)
  return stored === 'light' || stored === 'dark' ? stored : 'light dark'
}

export function setTheme(theme: ThemeName): void {
  localStorage.setItem(item, theme)
  document.documentElement.style.colorScheme = theme
}
