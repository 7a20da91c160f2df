import type { Shares } from './draws.ts'

/** Location of a visitor. */
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

/** The usual Accept-Language, and cities with their shares. */
const countries = {
  US: [
    'en-US',
    [
      ['New York', 'New York', -5, 9],
      ['California', 'Los Angeles', -8, 7],
      ['Illinois', 'Chicago', -6, 5],
      ['Texas', 'Houston', -6, 5],
      ['Texas', 'Austin', -6, 3],
      ['Arizona', 'Phoenix', -7, 3],
      ['Florida', 'Miami', -5, 4],
      ['Georgia', 'Atlanta', -5, 4],
      ['Washington', 'Seattle', -8, 3],
      ['Colorado', 'Denver', -7, 3],
      ['Massachusetts', 'Boston', -5, 3],
      ['Ohio', 'Columbus', -5, 2],
    ],
  ],
  CA: [
    'en-CA',
    [
      ['Ontario', 'Toronto', -5, 5],
      ['Québec', 'Montréal', -5, 3],
      ['British Columbia', 'Vancouver', -8, 3],
    ],
  ],
  MX: [
    'es-MX',
    [
      ['Ciudad de México', 'Mexico City', -6, 6],
      ['Jalisco', 'Guadalajara', -6, 3],
      ['Nuevo León', 'Monterrey', -6, 3],
    ],
  ],
  BR: [
    'pt-BR',
    [
      ['São Paulo', 'São Paulo', -3, 7],
      ['Rio de Janeiro', 'Rio de Janeiro', -3, 4],
      ['Bahia', 'Salvador', -3, 2],
    ],
  ],
  AR: [
    'es-AR',
    [
      ['Buenos Aires', 'Buenos Aires', -3, 6],
      ['Córdoba', 'Córdoba', -3, 2],
    ],
  ],
  CO: [
    'es-CO',
    [
      ['Bogotá', 'Bogotá', -5, 5],
      ['Antioquia', 'Medellín', -5, 3],
    ],
  ],
  GB: [
    'en-GB',
    [
      ['England', 'London', 0, 8],
      ['England', 'Manchester', 0, 3],
      ['Scotland', 'Glasgow', 0, 2],
      ['Wales', 'Cardiff', 0, 1],
    ],
  ],
  IE: [
    'en-IE',
    [
      ['Leinster', 'Dublin', 0, 4],
      ['Munster', 'Cork', 0, 1],
    ],
  ],
  DE: [
    'de-DE',
    [
      ['Berlin', 'Berlin', 1, 5],
      ['Bayern', 'München', 1, 4],
      ['Hamburg', 'Hamburg', 1, 3],
      ['Nordrhein-Westfalen', 'Köln', 1, 4],
      ['Hessen', 'Frankfurt am Main', 1, 3],
    ],
  ],
  AT: [
    'de-AT',
    [
      ['Wien', 'Wien', 1, 4],
      ['Steiermark', 'Graz', 1, 1],
    ],
  ],
  CH: [
    'de-CH',
    [
      ['Zürich', 'Zürich', 1, 3],
      ['Genève', 'Genève', 1, 1],
    ],
  ],
  NL: [
    'nl-NL',
    [
      ['Noord-Holland', 'Amsterdam', 1, 4],
      ['Zuid-Holland', 'Rotterdam', 1, 3],
      ['Utrecht', 'Utrecht', 1, 2],
    ],
  ],
  FR: [
    'fr-FR',
    [
      ['Île-de-France', 'Paris', 1, 6],
      ['Auvergne-Rhône-Alpes', 'Lyon', 1, 2],
      ['Occitanie', 'Toulouse', 1, 2],
    ],
  ],
  ES: [
    'es-ES',
    [
      ['Madrid', 'Madrid', 1, 4],
      ['Cataluña', 'Barcelona', 1, 4],
      ['Andalucía', 'Sevilla', 1, 2],
    ],
  ],
  IT: [
    'it-IT',
    [
      ['Lombardia', 'Milano', 1, 4],
      ['Lazio', 'Roma', 1, 4],
      ['Campania', 'Napoli', 1, 2],
    ],
  ],
  PL: [
    'pl-PL',
    [
      ['Mazowieckie', 'Warszawa', 1, 4],
      ['Małopolskie', 'Kraków', 1, 2],
    ],
  ],
  SE: [
    'sv-SE',
    [
      ['Stockholm', 'Stockholm', 1, 4],
      ['Västra Götaland', 'Göteborg', 1, 2],
    ],
  ],
  IN: [
    'en-IN',
    [
      ['Maharashtra', 'Mumbai', 5.5, 5],
      ['Karnataka', 'Bengaluru', 5.5, 4],
      ['Delhi', 'New Delhi', 5.5, 5],
      ['Tamil Nadu', 'Chennai', 5.5, 3],
    ],
  ],
  ID: [
    'id-ID',
    [
      ['DKI Jakarta', 'Jakarta', 7, 6],
      ['Jawa Timur', 'Surabaya', 7, 3],
    ],
  ],
  PH: [
    'en-PH',
    [
      ['Metro Manila', 'Quezon City', 8, 5],
      ['Cebu', 'Cebu City', 8, 2],
    ],
  ],
  TH: [
    'th-TH',
    [
      ['Bangkok', 'Bangkok', 7, 5],
      ['Chiang Mai', 'Chiang Mai', 7, 1],
    ],
  ],
  AU: [
    'en-AU',
    [
      ['New South Wales', 'Sydney', 10, 4],
      ['Victoria', 'Melbourne', 10, 4],
      ['Queensland', 'Brisbane', 10, 2],
    ],
  ],
  NZ: [
    'en-NZ',
    [
      ['Auckland', 'Auckland', 12, 3],
      ['Wellington', 'Wellington', 12, 1],
    ],
  ],
} as const satisfies Record<string, readonly [string, readonly City[]]>

export type Country = keyof typeof countries

/** The locations of a country by their share of its clicks. */
export const locationsOf = Object.fromEntries(
  Object.entries(countries).map(([country, [language, cities]]) => [
    country,
    cities.map(([region, city, utcOffsetHours, share]) => [
      { country, region, city, utcOffsetMinutes: utcOffsetHours * 60, language },
      share,
    ]),
  ]),
) as unknown as Record<Country, Shares<Location>>

/** Target markets of campaigns: countries by share. */
export const markets = {
  us: [['US', 1]],
  english: [
    ['US', 60],
    ['GB', 17],
    ['CA', 11],
    ['AU', 9],
    ['IE', 3],
    ['NZ', 2],
  ],
  britain: [
    ['GB', 80],
    ['IE', 12],
    ['AU', 8],
  ],
  dach: [
    ['DE', 78],
    ['AT', 13],
    ['CH', 9],
  ],
  germanDutch: [
    ['DE', 72],
    ['NL', 28],
  ],
  europe: [
    ['DE', 24],
    ['FR', 18],
    ['NL', 14],
    ['ES', 13],
    ['IT', 13],
    ['PL', 10],
    ['SE', 8],
  ],
  latam: [
    ['MX', 36],
    ['BR', 34],
    ['AR', 16],
    ['CO', 14],
  ],
  asia: [
    ['IN', 42],
    ['ID', 24],
    ['PH', 16],
    ['TH', 10],
    ['BR', 8],
  ],
  world: [
    ['US', 34],
    ['GB', 11],
    ['DE', 10],
    ['IN', 9],
    ['CA', 6],
    ['FR', 6],
    ['BR', 6],
    ['AU', 5],
    ['MX', 4],
    ['ES', 4],
    ['NL', 3],
    ['SE', 2],
  ],
} as const satisfies Record<string, Shares<Country>>

export type Market = keyof typeof markets
