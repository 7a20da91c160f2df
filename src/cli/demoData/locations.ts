import type { Shares } from './draws.ts'
import countries from './tables/countries.json' with { type: 'json' }
import marketsTable from './tables/markets.json' with { type: 'json' }

export interface Location {
  /** ISO 3166-1 alpha-2. */
  country: string
  region: string
  city: string
  /** UTC offset in minutes, without daylight saving time. */
  utcOffsetMinutes: number
  language: string
}

type City = readonly [region: string, city: string, utcOffsetHours: number, share: number]

export type Country = keyof typeof countries

export const locationsOf = Object.fromEntries(
  (Object.entries(countries) as unknown as [Country, { language: string; cities: City[] }][]).map(
    ([country, { language, cities }]) => [
      country,
      cities.map(([region, city, utcOffsetHours, share]) => [
        { country, region, city, utcOffsetMinutes: utcOffsetHours * 60, language },
        share,
      ]),
    ],
  ),
) as unknown as Record<Country, Shares<Location>>

export const markets = marketsTable as unknown as Readonly<Record<Market, Shares<Country>>>

export type Market = keyof typeof marketsTable
