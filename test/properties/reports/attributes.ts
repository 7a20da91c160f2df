import type { AttributeName, PropertyName } from '../../../schema/dimensions.ts'

// Attributes of rows by the fields of an import file, in plain code.

/** The attributes of a row; an absent one is undefined or `(not set)`. */
export type Attributes = { [Name in AttributeName | PropertyName]?: string | undefined }

export const domains: Record<string, string> = {
  'https://www.Example.com/a?b#c': 'example.com',
  'http://user:pass@news.example.org:8080': 'news.example.org',
  'HTTPS://WWW.EXAMPLE.COM': 'example.com',
  'not a url': '',
}
/** `Accept-Language` headers and their first tags. */
export const languages: Record<string, string> = { 'de-DE,de;q=0.9,en': 'de-de', EN: 'en', 'fr ;q=1': 'fr' }

export interface SharedFields {
  campaignId?: string | undefined
  offerId?: string | undefined
  landingPageId?: string | undefined
  trafficSourceId?: string | undefined
  country?: string | undefined
  device?: string | undefined
  os?: string | undefined
  browser?: string | undefined
  subIds?: { sub1?: string | undefined; sub2?: string | undefined; sub10?: string | undefined } | undefined
}

export interface ClickAttributeFields extends SharedFields {
  region?: string | undefined
  city?: string | undefined
  osVersion?: string | undefined
  browserVersion?: string | undefined
  language?: string | undefined
  referrer?: string | undefined
  utmSource?: string | undefined
  utmMedium?: string | undefined
  utmCampaign?: string | undefined
  utmTerm?: string | undefined
  utmContent?: string | undefined
}

export function clickAttributes(row: ClickAttributeFields): Attributes {
  return {
    ...sharedAttributes(row),
    region: row.region,
    city: row.city,
    os_version: row.osVersion,
    browser_version: row.browserVersion,
    language: row.language && languages[row.language],
    referrer_domain: row.referrer && domains[row.referrer],
    utm_source: row.utmSource,
    utm_medium: row.utmMedium,
    utm_campaign: row.utmCampaign,
    utm_term: row.utmTerm,
    utm_content: row.utmContent,
  }
}

export interface ConversionAttributeFields extends SharedFields {
  status: string
  source?: string
  eventName?: string | undefined
  couponCode?: string | undefined
}

/** @returns the attributes of a conversion: its own, others from its click */
export function conversionAttributes(
  row: ConversionAttributeFields,
  click: ClickAttributeFields | undefined,
): Attributes {
  const { status, source = 'cpa', eventName, couponCode } = row
  return {
    ...(click && clickAttributes(click)),
    ...sharedAttributes(row),
    status,
    source,
    event_name: eventName,
    coupon_code: couponCode,
  }
}

/** @returns those that the row has */
export function sharedAttributes(row: SharedFields): Attributes {
  const all = {
    campaign: row.campaignId,
    offer: row.offerId,
    landing: row.landingPageId,
    traffic_source: row.trafficSourceId,
    country: row.country,
    device: row.device,
    os: row.os,
    browser: row.browser,
    ...row.subIds,
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== '(not set)'))
}
