import type { Audience } from './devices.ts'
import type { Shares } from './draws.ts'
import type { Market } from './locations.ts'

/** A traffic source; `clickIdStart` is the prefix of the click ids that the source assigns. */
export interface Source {
  name: string
  category: string
  costModel: 'cpc' | 'cpm' | 'revshare' | null
  currency: 'USD' | 'EUR'
  audience: Audience
  /** Referrers of clicks; null: the browser sends none. */
  referrers: Shares<string | null>
  clickIdStart: string | null
  utm: readonly [source: string, medium: string]
}

export const sources = {
  'src-meta': {
    name: 'Meta Ads',
    category: 'social',
    costModel: 'cpc',
    currency: 'USD',
    audience: 'social',
    referrers: [
      ['https://l.facebook.com/', 5],
      ['https://www.instagram.com/', 4],
      [null, 4],
    ],
    clickIdStart: 'IwZXh0',
    utm: ['facebook', 'paid_social'],
  },
  'src-google': {
    name: 'Google Ads',
    category: 'search',
    costModel: 'cpc',
    currency: 'USD',
    audience: 'search',
    referrers: [
      ['https://www.google.com/', 9],
      [null, 1],
    ],
    clickIdStart: 'EAIaIQ',
    utm: ['google', 'cpc'],
  },
  'src-google-eu': {
    name: 'Google Ads Europe',
    category: 'search',
    costModel: 'cpc',
    currency: 'EUR',
    audience: 'search',
    referrers: [
      ['https://www.google.de/', 8],
      ['https://www.google.at/', 1],
      [null, 1],
    ],
    clickIdStart: 'EAIaIQ',
    utm: ['google', 'cpc'],
  },
  'src-tiktok': {
    name: 'TikTok Ads',
    category: 'social',
    costModel: 'cpc',
    currency: 'USD',
    audience: 'social',
    referrers: [
      ['https://www.tiktok.com/', 3],
      [null, 2],
    ],
    clickIdStart: 'E.C.P.',
    utm: ['tiktok', 'paid_social'],
  },
  'src-taboola': {
    name: 'Taboola',
    category: 'native',
    costModel: 'cpc',
    currency: 'USD',
    audience: 'native',
    referrers: [
      ['https://www.daily-ledger.example/homes/energy-bills-fall', 4],
      ['https://weather-now.example/', 3],
      ['https://www.sports-desk.example/scores', 2],
    ],
    clickIdStart: 'GiBh',
    utm: ['taboola', 'native'],
  },
  'src-outbrain': {
    name: 'Outbrain',
    category: 'native',
    costModel: 'cpc',
    currency: 'EUR',
    audience: 'native',
    referrers: [
      ['https://www.tagesblick.example/wirtschaft', 4],
      ['https://www.morgenpost.example/wohnen', 3],
      ['https://nieuws.example/', 2],
    ],
    clickIdStart: 'v4-obc',
    utm: ['outbrain', 'native'],
  },
  'src-youtube': {
    name: 'YouTube Ads',
    category: 'video',
    costModel: 'cpm',
    currency: 'USD',
    audience: 'video',
    referrers: [
      ['https://www.youtube.com/', 7],
      [null, 3],
    ],
    clickIdStart: 'EAIaIQ',
    utm: ['youtube', 'video'],
  },
  'src-microsoft': {
    name: 'Microsoft Advertising',
    category: 'search',
    costModel: 'cpc',
    currency: 'USD',
    audience: 'search',
    referrers: [['https://www.bing.com/', 1]],
    clickIdStart: 'msclk',
    utm: ['bing', 'cpc'],
  },
  'src-push': {
    name: 'PushHouse',
    category: 'push',
    costModel: 'cpc',
    currency: 'USD',
    audience: 'push',
    referrers: [[null, 1]],
    clickIdStart: 'ph',
    utm: ['pushhouse', 'push'],
  },
  'src-reddit': {
    name: 'Reddit Ads',
    category: 'social',
    costModel: 'cpc',
    currency: 'USD',
    audience: 'search',
    referrers: [['https://www.reddit.com/', 1]],
    clickIdStart: 'rdt',
    utm: ['reddit', 'paid_social'],
  },
  'src-newsletters': {
    name: 'Partner Newsletters',
    category: 'email',
    costModel: 'revshare',
    currency: 'USD',
    audience: 'email',
    referrers: [[null, 1]],
    clickIdStart: null,
    utm: ['newsletter', 'email'],
  },
  'src-organic': {
    name: 'Buyers’ Guides Blog',
    category: 'organic',
    costModel: null,
    currency: 'USD',
    audience: 'search',
    referrers: [
      ['https://www.buyers-guides.example/best-mattress-toppers', 3],
      ['https://www.buyers-guides.example/coffee-subscriptions-compared', 3],
      ['https://www.buyers-guides.example/vpn-explained', 4],
    ],
    clickIdStart: null,
    utm: ['blog', 'referral'],
  },
} as const satisfies Record<string, Source>

export type SourceId = keyof typeof sources

/** An advertised offer. Networks report conversions by postback (`cpa`), own shops by their payment provider (`revenue`). */
export interface Offer {
  name: string
  network: string | null
  kind: 'lead' | 'install' | 'order' | 'subscription'
  /** The payout of a lead or install, or the average amount of an order; in `currency`. */
  amount: number
  currency: 'USD' | 'EUR'
  countries: readonly string[]
  tags: readonly string[]
  coupons?: Shares<string>
}

export const offers = {
  'off-luma-blanket': {
    name: 'Luma Sleep – Weighted Blanket',
    network: null,
    kind: 'order',
    amount: 128,
    currency: 'USD',
    countries: ['US', 'CA'],
    tags: ['home', 'own-shop'],
    coupons: [
      ['SLEEP10', 6],
      ['WELCOME5', 3],
    ],
  },
  'off-luma-pillow': {
    name: 'Luma Sleep – Cooling Pillow',
    network: null,
    kind: 'order',
    amount: 64,
    currency: 'USD',
    countries: ['US', 'CA'],
    tags: ['home', 'own-shop'],
    coupons: [['SLEEP10', 1]],
  },
  'off-paloma-trial': {
    name: 'Paloma Skincare – 30-Day Set',
    network: null,
    kind: 'order',
    amount: 49,
    currency: 'USD',
    countries: ['US', 'GB', 'CA', 'AU'],
    tags: ['beauty', 'own-shop'],
    coupons: [
      ['GLOW15', 5],
      ['MIA20', 4],
      ['JUNO20', 2],
    ],
  },
  'off-nordhaus-coffee': {
    name: 'Nordhaus Coffee – Monthly Box',
    network: null,
    kind: 'subscription',
    amount: 26,
    currency: 'EUR',
    countries: ['DE', 'NL', 'GB', 'FR'],
    tags: ['food', 'own-shop'],
    coupons: [
      ['MORGEN', 3],
      ['BREW3', 2],
    ],
  },
  'off-kite-annual': {
    name: 'Kite Languages – Annual Plan',
    network: null,
    kind: 'subscription',
    amount: 59,
    currency: 'USD',
    countries: [],
    tags: ['app', 'own-shop'],
    coupons: [['HOLA30', 1]],
  },
  'off-cobalt-vpn': {
    name: 'Cobalt VPN – Two Years',
    network: 'Impact',
    kind: 'order',
    amount: 42,
    currency: 'USD',
    countries: [],
    tags: ['software'],
  },
  'off-cobalt-vpn-eu': {
    name: 'Cobalt VPN – Zwei Jahre',
    network: 'Awin',
    kind: 'order',
    amount: 38,
    currency: 'EUR',
    countries: ['DE', 'AT', 'CH'],
    tags: ['software'],
  },
  'off-verdant-box': {
    name: 'Verdant Meal Kits – First Box',
    network: 'CJ',
    kind: 'lead',
    amount: 27,
    currency: 'USD',
    countries: ['US'],
    tags: ['food'],
  },
  'off-solaro-us': {
    name: 'Solaro – Home Solar Quote',
    network: 'Impact',
    kind: 'lead',
    amount: 46,
    currency: 'USD',
    countries: ['US'],
    tags: ['energy', 'lead'],
  },
  'off-solaro-eu': {
    name: 'Solaro – Photovoltaik-Angebot',
    network: 'Awin',
    kind: 'lead',
    amount: 34,
    currency: 'EUR',
    countries: ['DE', 'AT', 'NL'],
    tags: ['energy', 'lead'],
  },
  'off-atlas-travel': {
    name: 'Atlas Travel Insurance – Annual Cover',
    network: 'Awin',
    kind: 'lead',
    amount: 21,
    currency: 'EUR',
    countries: ['GB', 'IE'],
    tags: ['insurance', 'lead'],
  },
  'off-bramble-pet': {
    name: 'Bramble Pet Insurance – Quote',
    network: 'CJ',
    kind: 'lead',
    amount: 32,
    currency: 'USD',
    countries: ['US', 'CA'],
    tags: ['insurance', 'lead'],
  },
  'off-finpilot': {
    name: 'FinPilot Budget App – Trial',
    network: 'PartnerStack',
    kind: 'lead',
    amount: 14,
    currency: 'USD',
    countries: ['US', 'CA', 'GB'],
    tags: ['finance', 'app'],
  },
  'off-pixelforge': {
    name: 'Pixel Forge – Android Install',
    network: 'AppReach',
    kind: 'install',
    amount: 0.62,
    currency: 'USD',
    countries: ['IN', 'ID', 'PH', 'TH', 'BR'],
    tags: ['game', 'app'],
  },
  'off-tidewater-card': {
    name: 'Tidewater Cashback Card – Application',
    network: 'CJ',
    kind: 'lead',
    amount: 85,
    currency: 'USD',
    countries: ['US'],
    tags: ['finance', 'lead'],
  },
} as const satisfies Record<string, Offer>

export type OfferId = keyof typeof offers

/** Landing pages. Only pages with the pixel have funnels; `lift` multiplies conversions. */
export interface LandingPage {
  name: string
  hasPixel: boolean
  lift: number
}

export const landingPages = {
  'lp-luma-quiz': { name: 'Luma – Sleep Quiz', hasPixel: true, lift: 1.25 },
  'lp-luma-story': { name: 'Luma – Founder Story', hasPixel: false, lift: 0.85 },
  'lp-paloma-advertorial': { name: 'Paloma – Advertorial “Seven Mornings”', hasPixel: false, lift: 1.1 },
  'lp-paloma-shop': { name: 'Paloma – Shop Page', hasPixel: true, lift: 0.95 },
  'lp-nordhaus-box': { name: 'Nordhaus – Build Your Box', hasPixel: true, lift: 1 },
  'lp-kite-placement': { name: 'Kite – Placement Test', hasPixel: false, lift: 1.15 },
  'lp-kite-pricing': { name: 'Kite – Pricing', hasPixel: false, lift: 0.9 },
  'lp-cobalt-compare': { name: 'Cobalt – VPNs Compared', hasPixel: false, lift: 1.1 },
  'lp-cobalt-vergleich': { name: 'Cobalt – VPN-Vergleich', hasPixel: false, lift: 1 },
  'lp-verdant-menu': { name: 'Verdant – This Week’s Menu', hasPixel: false, lift: 0.9 },
  'lp-solaro-calculator': { name: 'Solaro – Savings Calculator', hasPixel: true, lift: 1.3 },
  'lp-solaro-rechner': { name: 'Solaro – Solarrechner', hasPixel: false, lift: 1.2 },
  'lp-atlas-quote': { name: 'Atlas – Two-Minute Quote', hasPixel: false, lift: 1 },
  'lp-bramble-quote': { name: 'Bramble – Pet Quote', hasPixel: true, lift: 1 },
  'lp-finpilot-list': { name: 'FinPilot – Nine Money Habits', hasPixel: false, lift: 1.05 },
  'lp-tidewater-apply': { name: 'Tidewater – Apply', hasPixel: false, lift: 1 },
} as const satisfies Record<string, LandingPage>

export type LandingPageId = keyof typeof landingPages

/** The days on which a campaign runs, counted from 1970-01-01 UTC. */
export type Schedule =
  /** Runs every day. */
  | { kind: 'always' }
  /** Runs for the first `onDays` of every `everyDays`, counted from day `start`. */
  | { kind: 'flights'; everyDays: number; onDays: number; start: number }
  /** Runs on some days of the week; 0 is Sunday. */
  | { kind: 'weekdays'; days: readonly number[] }

export interface Campaign {
  name: string
  source: SourceId
  market: Market
  /** Pairs of offer and landing page; without a page the click leads to the offer. Empty: the visitor's earlier pair. */
  paths: Shares<readonly [OfferId, LandingPageId | null]>
  schedule: Schedule
  /** Its clicks on an average day, relative to other campaigns. */
  share: number
  /** Average cost of a click in the currency of its source; null where clicks are free. */
  costPerClick: number | null
  /** Share of human clicks that convert on an average page, 0 to 1. */
  conversionRate: number
  /** Factor of clicks on Saturdays and Sundays. */
  weekend: number
  /** Sine wave of its clicks: period in days, and amplitude as a share of its size. */
  waveDays: number
  waveBy: number
  /** Search terms, or names of creatives. */
  creatives: readonly string[]
  tags: readonly string[]
}

const always: Schedule = { kind: 'always' }

export const campaigns = {
  'cmp-luma-meta-broad': {
    name: 'Luma Sleep – Meta Broad US',
    source: 'src-meta',
    market: 'us',
    paths: [
      [['off-luma-blanket', 'lp-luma-quiz'], 5],
      [['off-luma-blanket', 'lp-luma-story'], 3],
      [['off-luma-pillow', 'lp-luma-quiz'], 2],
    ],
    schedule: always,
    share: 120,
    costPerClick: 0.74,
    conversionRate: 0.0115,
    weekend: 1.18,
    waveDays: 120,
    waveBy: 0.25,
    creatives: ['ugc-bedroom', 'founder-cut', 'carousel-colours', 'before-after'],
    tags: ['luma', 'prospecting'],
  },
  'cmp-luma-meta-lookalike': {
    name: 'Luma Sleep – Meta Lookalike 2 %',
    source: 'src-meta',
    market: 'us',
    paths: [
      [['off-luma-blanket', 'lp-luma-quiz'], 6],
      [['off-luma-pillow', 'lp-luma-quiz'], 3],
      [['off-luma-pillow', null], 1],
    ],
    schedule: always,
    share: 70,
    costPerClick: 0.92,
    conversionRate: 0.0145,
    weekend: 1.15,
    waveDays: 75,
    waveBy: 0.2,
    creatives: ['ugc-bedroom', 'reviews-stack'],
    tags: ['luma', 'prospecting'],
  },
  'cmp-paloma-tiktok-spark': {
    name: 'Paloma – TikTok Spark Ads',
    source: 'src-tiktok',
    market: 'english',
    paths: [
      [['off-paloma-trial', 'lp-paloma-advertorial'], 5],
      [['off-paloma-trial', 'lp-paloma-shop'], 5],
    ],
    schedule: always,
    share: 140,
    costPerClick: 0.31,
    conversionRate: 0.0095,
    weekend: 1.25,
    waveDays: 61,
    waveBy: 0.35,
    creatives: ['spark-mia', 'spark-juno', 'spark-grwm', 'spark-dermatologist'],
    tags: ['paloma', 'prospecting'],
  },
  'cmp-paloma-creators': {
    name: 'Paloma – Creator Collab',
    source: 'src-tiktok',
    market: 'english',
    paths: [[['off-paloma-trial', 'lp-paloma-shop'], 1]],
    schedule: { kind: 'flights', everyDays: 80, onDays: 38, start: 12 },
    share: 60,
    costPerClick: 0.27,
    conversionRate: 0.016,
    weekend: 1.3,
    waveDays: 40,
    waveBy: 0.3,
    creatives: ['mia', 'juno'],
    tags: ['paloma', 'creators'],
  },
  'cmp-cobalt-google-en': {
    name: 'Cobalt VPN – Google Search EN',
    source: 'src-google',
    market: 'english',
    paths: [
      [['off-cobalt-vpn', 'lp-cobalt-compare'], 7],
      [['off-cobalt-vpn', null], 3],
    ],
    schedule: always,
    share: 95,
    costPerClick: 0.88,
    conversionRate: 0.034,
    weekend: 0.96,
    waveDays: 150,
    waveBy: 0.15,
    creatives: ['best vpn', 'vpn for streaming', 'cheap vpn', 'vpn for travel', 'vpn two years deal'],
    tags: ['cobalt', 'search'],
  },
  'cmp-cobalt-google-dach': {
    name: 'Cobalt VPN – Google Search DACH',
    source: 'src-google-eu',
    market: 'dach',
    paths: [
      [['off-cobalt-vpn-eu', 'lp-cobalt-vergleich'], 8],
      [['off-cobalt-vpn-eu', null], 2],
    ],
    schedule: always,
    share: 55,
    costPerClick: 0.71,
    conversionRate: 0.029,
    weekend: 0.98,
    waveDays: 110,
    waveBy: 0.15,
    creatives: ['vpn testsieger', 'vpn günstig', 'vpn fürs streaming'],
    tags: ['cobalt', 'search', 'dach'],
  },
  'cmp-solaro-taboola': {
    name: 'Solaro – Taboola US Homeowners',
    source: 'src-taboola',
    market: 'us',
    paths: [[['off-solaro-us', 'lp-solaro-calculator'], 1]],
    schedule: always,
    share: 105,
    costPerClick: 0.42,
    conversionRate: 0.0135,
    weekend: 0.9,
    waveDays: 90,
    waveBy: 0.3,
    creatives: ['bill-shock', 'new-rule-2026', 'neighbour-roof'],
    tags: ['solaro', 'lead'],
  },
  'cmp-solaro-outbrain-eu': {
    name: 'Solaro – Outbrain DE/NL',
    source: 'src-outbrain',
    market: 'germanDutch',
    paths: [[['off-solaro-eu', 'lp-solaro-rechner'], 1]],
    schedule: { kind: 'flights', everyDays: 84, onDays: 52, start: 30 },
    share: 62,
    costPerClick: 0.36,
    conversionRate: 0.013,
    weekend: 0.88,
    waveDays: 100,
    waveBy: 0.25,
    creatives: ['strompreis', 'dach-check', 'förderung'],
    tags: ['solaro', 'lead', 'dach'],
  },
  'cmp-kite-youtube': {
    name: 'Kite Languages – YouTube In-Stream',
    source: 'src-youtube',
    market: 'world',
    paths: [
      [['off-kite-annual', 'lp-kite-placement'], 7],
      [['off-kite-annual', 'lp-kite-pricing'], 3],
    ],
    schedule: always,
    share: 115,
    costPerClick: 0.22,
    conversionRate: 0.0062,
    weekend: 1.1,
    waveDays: 130,
    waveBy: 0.3,
    creatives: ['grandma-15s', 'airport-30s', 'street-interview'],
    tags: ['kite', 'video'],
  },
  'cmp-kite-meta-latam': {
    name: 'Kite Languages – Meta LATAM',
    source: 'src-meta',
    market: 'latam',
    paths: [
      [['off-kite-annual', 'lp-kite-placement'], 8],
      [['off-kite-annual', 'lp-kite-pricing'], 2],
    ],
    schedule: always,
    share: 110,
    costPerClick: 0.09,
    conversionRate: 0.0031,
    weekend: 1.12,
    waveDays: 95,
    waveBy: 0.3,
    creatives: ['abuela-15s', 'reels-oficina'],
    tags: ['kite', 'latam'],
  },
  'cmp-atlas-microsoft': {
    name: 'Atlas Travel Insurance – Microsoft Search',
    source: 'src-microsoft',
    market: 'britain',
    paths: [[['off-atlas-travel', 'lp-atlas-quote'], 1]],
    schedule: always,
    share: 38,
    costPerClick: 0.97,
    conversionRate: 0.058,
    weekend: 0.82,
    waveDays: 140,
    waveBy: 0.35,
    creatives: ['travel insurance', 'annual travel insurance', 'holiday cover over 65'],
    tags: ['atlas', 'search'],
  },
  'cmp-bramble-google': {
    name: 'Bramble Pet Insurance – Google Search',
    source: 'src-google',
    market: 'us',
    paths: [[['off-bramble-pet', 'lp-bramble-quote'], 1]],
    schedule: always,
    share: 58,
    costPerClick: 1.34,
    conversionRate: 0.055,
    weekend: 0.85,
    waveDays: 105,
    waveBy: 0.15,
    creatives: ['pet insurance', 'dog insurance cost', 'cat insurance', 'pet insurance no waiting'],
    tags: ['bramble', 'search'],
  },
  'cmp-pixelforge-push': {
    name: 'Pixel Forge – Push Tier 2',
    source: 'src-push',
    market: 'asia',
    paths: [[['off-pixelforge', null], 1]],
    schedule: always,
    share: 230,
    costPerClick: 0.013,
    conversionRate: 0.031,
    weekend: 1.08,
    waveDays: 55,
    waveBy: 0.4,
    creatives: ['chest-open', 'level-99', 'free-gems'],
    tags: ['pixelforge', 'app'],
  },
  'cmp-finpilot-reddit': {
    name: 'FinPilot – Reddit Money Subs',
    source: 'src-reddit',
    market: 'english',
    paths: [[['off-finpilot', 'lp-finpilot-list'], 1]],
    schedule: always,
    share: 44,
    costPerClick: 0.39,
    conversionRate: 0.027,
    weekend: 0.92,
    waveDays: 70,
    waveBy: 0.2,
    creatives: ['budget-meme', 'spreadsheet-plea'],
    tags: ['finpilot'],
  },
  'cmp-nordhaus-newsletters': {
    name: 'Nordhaus Coffee – Partner Newsletters',
    source: 'src-newsletters',
    market: 'europe',
    paths: [[['off-nordhaus-coffee', 'lp-nordhaus-box'], 1]],
    schedule: { kind: 'weekdays', days: [2, 4] },
    share: 96,
    costPerClick: null,
    conversionRate: 0.024,
    weekend: 1,
    waveDays: 85,
    waveBy: 0.2,
    creatives: ['tuesday-brew', 'thursday-brew'],
    tags: ['nordhaus', 'partners'],
  },
  'cmp-nordhaus-weekend': {
    name: 'Nordhaus Coffee – Weekend Flash Sale',
    source: 'src-meta',
    market: 'europe',
    paths: [[['off-nordhaus-coffee', 'lp-nordhaus-box'], 1]],
    schedule: { kind: 'weekdays', days: [5, 6, 0] },
    share: 75,
    costPerClick: 0.33,
    conversionRate: 0.019,
    weekend: 1.2,
    waveDays: 65,
    waveBy: 0.25,
    creatives: ['flash-48h', 'last-bags'],
    tags: ['nordhaus', 'sale'],
  },
  'cmp-verdant-tiktok-test': {
    name: 'Verdant Meal Kits – TikTok Test',
    source: 'src-tiktok',
    market: 'us',
    paths: [[['off-verdant-box', 'lp-verdant-menu'], 1]],
    schedule: { kind: 'flights', everyDays: 76, onDays: 30, start: 55 },
    share: 65,
    costPerClick: 0.44,
    conversionRate: 0.0065,
    weekend: 1.1,
    waveDays: 30,
    waveBy: 0.2,
    creatives: ['unboxing', 'ten-minute-dinner'],
    tags: ['verdant', 'test'],
  },
  'cmp-tidewater-native-test': {
    name: 'Tidewater Card – Native Test',
    source: 'src-taboola',
    market: 'us',
    paths: [[['off-tidewater-card', 'lp-tidewater-apply'], 1]],
    schedule: { kind: 'flights', everyDays: 88, onDays: 26, start: 20 },
    share: 48,
    costPerClick: 0.95,
    conversionRate: 0.0072,
    weekend: 0.86,
    waveDays: 26,
    waveBy: 0.2,
    creatives: ['cashback-table', 'wallet-photo'],
    tags: ['tidewater', 'test'],
  },
  'cmp-retargeting': {
    name: 'Retargeting – Abandoned Carts',
    source: 'src-meta',
    market: 'us',
    paths: [],
    schedule: always,
    share: 0,
    costPerClick: 0.58,
    conversionRate: 0.031,
    weekend: 1.05,
    waveDays: 90,
    waveBy: 0,
    creatives: ['you-forgot', 'ten-off'],
    tags: ['retargeting'],
  },
  'cmp-buyers-guides': {
    name: 'Buyers’ Guides – Organic',
    source: 'src-organic',
    market: 'world',
    paths: [
      [['off-luma-blanket', 'lp-luma-story'], 3],
      [['off-cobalt-vpn', 'lp-cobalt-compare'], 4],
      [['off-nordhaus-coffee', 'lp-nordhaus-box'], 3],
    ],
    schedule: always,
    share: 66,
    costPerClick: null,
    conversionRate: 0.014,
    weekend: 0.93,
    waveDays: 160,
    waveBy: 0.2,
    creatives: ['guide-sleep', 'guide-vpn', 'guide-coffee'],
    tags: ['organic'],
  },
} as const satisfies Record<string, Campaign>

export type CampaignId = keyof typeof campaigns
