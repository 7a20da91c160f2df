/** Names of the tracking parameters that the customer defines. */
export const subIdNames = ['sub1', 'sub2', 'sub3', 'sub4', 'sub5', 'sub6', 'sub7', 'sub8', 'sub9', 'sub10'] as const
export type SubIdName = (typeof subIdNames)[number]
