import type { devices as deviceNames } from '../../../schema/click.ts'
import type { Draws, Shares } from './draws.ts'

/** Device, operating system and browser of a visitor: fields of a click. */
export interface Device {
  device: (typeof deviceNames)[number]
  os: string
  osVersion: string
  browser: string
  browserVersion: string
  userAgent: string
}

interface Model {
  device: Device['device']
  os: string
  osVersions: readonly string[]
  browser: string
  /** Omitted when the browser has the version of its operating system. */
  browserVersions?: readonly string[]
  /** Placeholders: `{os}` and `{browser}` are the versions, `{os_}` is the OS version with underscores. */
  userAgent: string
}

const chromes = ['138.0.0.0', '139.0.0.0', '140.0.0.0', '141.0.0.0']
const firefoxes = ['142.0', '143.0', '144.0']
const safaris = ['17.6', '18.5', '18.6', '26.0']
const iosVersions = ['17.6', '18.5', '18.6', '26.0']
const androids = ['12', '13', '14', '15']
const iosAgent = 'Mozilla/5.0 (iPhone; CPU iPhone OS {os_} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)'
const windowsAgent = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)'
const macAgent = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)'
const androidAgent = 'Mozilla/5.0 (Linux; Android {os}; K) AppleWebKit/537.36 (KHTML, like Gecko)'
const chromeAgent = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{browser} Safari/537.36'

const models = {
  iphoneSafari: {
    device: 'mobile',
    os: 'iOS',
    osVersions: iosVersions,
    browser: 'Safari',
    userAgent: `${iosAgent} Version/{browser} Mobile/15E148 Safari/604.1`,
  },
  iphoneChrome: {
    device: 'mobile',
    os: 'iOS',
    osVersions: iosVersions,
    browser: 'Chrome',
    browserVersions: chromes,
    userAgent: `${iosAgent} CriOS/{browser} Mobile/15E148 Safari/604.1`,
  },
  iphoneFacebook: {
    device: 'mobile',
    os: 'iOS',
    osVersions: iosVersions,
    browser: 'Facebook',
    browserVersions: ['528.0', '530.0'],
    userAgent: `${iosAgent} Mobile/15E148 [FBAN/FBIOS;FBAV/{browser}]`,
  },
  androidChrome: {
    device: 'mobile',
    os: 'Android',
    osVersions: androids,
    browser: 'Chrome',
    browserVersions: chromes,
    userAgent: `${androidAgent} Chrome/{browser} Mobile Safari/537.36`,
  },
  androidSamsung: {
    device: 'mobile',
    os: 'Android',
    osVersions: androids,
    browser: 'Samsung Internet',
    browserVersions: ['27.0', '28.0'],
    userAgent: `${androidAgent} SamsungBrowser/{browser} Chrome/130.0.0.0 Mobile Safari/537.36`,
  },
  androidFacebook: {
    device: 'mobile',
    os: 'Android',
    osVersions: androids,
    browser: 'Facebook',
    browserVersions: ['528.0', '530.0'],
    userAgent: `${androidAgent} Version/4.0 Chrome/140.0.0.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/{browser}]`,
  },
  ipad: {
    device: 'tablet',
    os: 'iPadOS',
    osVersions: iosVersions,
    browser: 'Safari',
    userAgent:
      'Mozilla/5.0 (iPad; CPU OS {os_} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/{browser} Mobile/15E148 Safari/604.1',
  },
  androidTablet: {
    device: 'tablet',
    os: 'Android',
    osVersions: androids,
    browser: 'Chrome',
    browserVersions: chromes,
    userAgent: `${androidAgent} Chrome/{browser} Safari/537.36`,
  },
  windowsChrome: {
    device: 'desktop',
    os: 'Windows',
    osVersions: ['10', '11'],
    browser: 'Chrome',
    browserVersions: chromes,
    userAgent: `${windowsAgent} ${chromeAgent}`,
  },
  windowsEdge: {
    device: 'desktop',
    os: 'Windows',
    osVersions: ['10', '11'],
    browser: 'Edge',
    browserVersions: chromes,
    userAgent: `${windowsAgent} ${chromeAgent} Edg/{browser}`,
  },
  windowsFirefox: {
    device: 'desktop',
    os: 'Windows',
    osVersions: ['10', '11'],
    browser: 'Firefox',
    browserVersions: firefoxes,
    userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:{browser}) Gecko/20100101 Firefox/{browser}',
  },
  macSafari: {
    device: 'desktop',
    os: 'macOS',
    osVersions: ['14', '15', '26'],
    browser: 'Safari',
    browserVersions: safaris,
    userAgent: `${macAgent} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/{browser} Safari/605.1.15`,
  },
  macChrome: {
    device: 'desktop',
    os: 'macOS',
    osVersions: ['14', '15', '26'],
    browser: 'Chrome',
    browserVersions: chromes,
    userAgent: `${macAgent} ${chromeAgent}`,
  },
  linuxFirefox: {
    device: 'desktop',
    os: 'Linux',
    osVersions: ['6.8', '6.12'],
    browser: 'Firefox',
    browserVersions: firefoxes,
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:{browser}) Gecko/20100101 Firefox/{browser}',
  },
  television: {
    device: 'other',
    os: 'Tizen',
    osVersions: ['7.0', '8.0'],
    browser: 'Samsung Internet',
    browserVersions: ['7.0', '8.0'],
    userAgent:
      'Mozilla/5.0 (SMART-TV; LINUX; Tizen {os}) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/{browser} TV Safari/537.36',
  },
} as const satisfies Record<string, Model>

type ModelName = keyof typeof models

/** Shares of device models by kind of traffic. */
const audiences = {
  social: [
    ['iphoneFacebook', 27],
    ['androidFacebook', 23],
    ['iphoneSafari', 17],
    ['androidChrome', 18],
    ['androidSamsung', 5],
    ['ipad', 3],
    ['windowsChrome', 5],
    ['macChrome', 2],
  ],
  video: [
    ['iphoneSafari', 24],
    ['androidChrome', 30],
    ['iphoneChrome', 6],
    ['windowsChrome', 17],
    ['macSafari', 6],
    ['ipad', 5],
    ['androidTablet', 3],
    ['television', 6],
    ['windowsEdge', 3],
  ],
  search: [
    ['windowsChrome', 25],
    ['windowsEdge', 10],
    ['windowsFirefox', 5],
    ['macSafari', 10],
    ['macChrome', 8],
    ['linuxFirefox', 2],
    ['iphoneSafari', 20],
    ['androidChrome', 16],
    ['ipad', 4],
  ],
  native: [
    ['androidChrome', 28],
    ['iphoneSafari', 26],
    ['windowsChrome', 16],
    ['windowsEdge', 9],
    ['androidTablet', 5],
    ['ipad', 8],
    ['androidSamsung', 6],
    ['macSafari', 2],
  ],
  push: [
    ['androidChrome', 71],
    ['androidSamsung', 12],
    ['windowsChrome', 14],
    ['androidTablet', 3],
  ],
  email: [
    ['iphoneSafari', 38],
    ['macSafari', 14],
    ['windowsChrome', 18],
    ['androidChrome', 20],
    ['windowsEdge', 5],
    ['ipad', 5],
  ],
} as const satisfies Record<string, Shares<ModelName>>

export type Audience = keyof typeof audiences

/** Draws the device of a visitor. */
export function drawDevice(draws: Draws, audience: Audience): Device {
  return draws.pick(devicesOf[draws.pickShared<ModelName>(audiences[audience])])
}

/** All devices of each model, a few hundred in total: every user agent is built once. */
const devicesOf = Object.fromEntries(
  Object.entries<Model>(models).map(([name, { device, os, osVersions, browser, browserVersions, userAgent }]) => [
    name,
    osVersions.flatMap((osVersion) =>
      (browserVersions ?? [osVersion]).map((browserVersion) => ({
        device,
        os,
        osVersion,
        browser,
        browserVersion,
        userAgent: userAgent
          .replace('{os_}', osVersion.replaceAll('.', '_'))
          .replace('{os}', osVersion)
          .replaceAll('{browser}', browserVersion),
      })),
    ),
  ]),
  // Object.fromEntries loses the key type.
) as unknown as Record<ModelName, readonly Device[]>

/** Devices of bots. */
export const bots: Shares<Device> = [
  [bot('Googlebot', '2.1', 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'), 3],
  [bot('Facebook crawler', '1.1', 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)'), 4],
  [bot('AhrefsBot', '7.0', 'Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)'), 2],
  [bot('curl', '8.9.1', 'curl/8.9.1'), 1],
  [
    bot(
      'Headless Chrome',
      '140.0.0.0',
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0 Safari/537.36',
    ),
    5,
  ],
]

function bot(browser: string, browserVersion: string, userAgent: string): Device {
  return { device: 'other', os: 'Linux', osVersion: '6.8', browser, browserVersion, userAgent }
}
