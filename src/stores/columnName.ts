/** @returns the column of a field in both databases: `campaign_id` of `campaignId` */
export function columnName(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
