/** Groups of operations, in the order of the documentation. */
export const resourceTags = [
  { name: 'Reports', description: 'Clicks, conversions, amounts and ratios by dimension.' },
  { name: 'Stats', description: 'Totals and the daily series.' },
  { name: 'Clicks', description: 'Every click. Bot and test clicks are included and flagged.' },
  { name: 'Conversions', description: 'CPA and revenue conversions in one list, each in its latest version.' },
  { name: 'Events', description: 'Server-side events: analytics signals that never change conversions or revenue.' },
  { name: 'Campaigns', description: 'Campaigns that clicks belong to.' },
  { name: 'Offers', description: 'Advertised offers.' },
  { name: 'Landing pages', description: 'Pages that clicks lead to.' },
  { name: 'Traffic sources', description: 'Sources that clicks come from.' },
  { name: 'Account', description: 'The API key, and the usage of the subscription plan.' },
] as const
