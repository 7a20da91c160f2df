/** What can be imported and exported, by the names that the command takes. */
export const resourceNames = [
  'clicks',
  'conversions',
  'pixel-events',
  'campaigns',
  'offers',
  'landing-pages',
  'traffic-sources',
] as const
export type ResourceName = (typeof resourceNames)[number]
