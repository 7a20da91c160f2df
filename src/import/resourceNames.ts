/** The resources that can be imported and exported, by their names in commands. */
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
