/**
 * The resources that can be imported and exported, by their names in commands, with their tables. In the order of an import of
 * all: names come first, so that no row names an unknown campaign, and clicks come before their conversions.
 */
export const resourceTables = {
  campaigns: 'campaigns',
  offers: 'offers',
  'landing-pages': 'landing_pages',
  'traffic-sources': 'traffic_sources',
  clicks: 'clicks',
  conversions: 'conversions',
  costs: 'costs',
  'pixel-events': 'pixel_events',
} as const
export type ResourceName = keyof typeof resourceTables
export const resourceNames = Object.keys(resourceTables) as ResourceName[]

/** What can be imported, with its table: the resources, and changes of the status of conversions. */
export const importTables = { ...resourceTables, 'conversion-statuses': 'conversions' } as const
export type ImportName = keyof typeof importTables
export const importNames = Object.keys(importTables) as ImportName[]
