/** The resources that can be imported and exported, by their names in commands, with their tables. */
export const resourceTables = {
  clicks: 'clicks',
  conversions: 'conversions',
  'pixel-events': 'pixel_events',
  campaigns: 'campaigns',
  offers: 'offers',
  'landing-pages': 'landing_pages',
  'traffic-sources': 'traffic_sources',
} as const
export type ResourceName = keyof typeof resourceTables
export const resourceNames = Object.keys(resourceTables) as ResourceName[]
