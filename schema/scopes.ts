/** Scopes of v1 and what each allows. Only `write:events` writes. */
export const scopeTexts = {
  'read:conversions': 'List conversions',
  'read:clicks': 'List clicks',
  'read:campaigns': 'Read campaigns',
  'read:offers': 'Read offers',
  'read:landing-pages': 'Read landing pages',
  'read:traffic-sources': 'Read traffic sources',
  'read:stats': 'Read the overview, the daily series and usage',
  'read:reports': 'Read grouped reports',
  'read:events': 'List events, read funnels and journeys',
  'search:conversions': 'Search conversions',
  'search:campaigns': 'Search campaigns',
  'write:events': 'Send server-side events',
} as const

export type Scope = keyof typeof scopeTexts

/** Scopes that rows of these kinds require besides the scope of the route, in funnels and journeys. */
export const scopesOfKinds: Readonly<Record<string, Scope>> = { click: 'read:clicks', conversion: 'read:conversions' }

export const scopes = Object.keys(scopeTexts) as Scope[]
