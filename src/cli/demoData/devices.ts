import type { devices as deviceNames } from '../../../schema/filters.ts'
import type { Draws, Shares } from './draws.ts'
import audiences from './tables/audiences.json' with { type: 'json' }
import botsTable from './tables/bots.json' with { type: 'json' }
import deviceModels from './tables/deviceModels.json' with { type: 'json' }

/** Device, operating system and browser of a visitor: fields of a click. */
export interface Device {
  device: (typeof deviceNames)[number]
  os: string
  osVersion: string
  browser: string
  browserVersion: string
  userAgent: string
}

/** In `userAgent`, `{os}` and `{browser}` are the versions, `{os_}` is the version of the system with underscores. */
interface Model extends Omit<Device, 'osVersion' | 'browserVersion'> {
  osVersions: readonly string[]
  /** Omitted when the browser has the version of its operating system. */
  browserVersions?: readonly string[]
}

type ModelName = keyof typeof deviceModels

const sharesOf = audiences as unknown as Readonly<Record<Audience, Shares<ModelName>>>

export type Audience = keyof typeof audiences

export function drawDevice(draws: Draws, audience: Audience): Device {
  return draws.pick(devicesOf[draws.pickShared(sharesOf[audience])])
}

/** All devices of each model, a few hundred in total: every user agent is built once. */
const devicesOf = Object.fromEntries(
  (Object.entries(deviceModels) as [string, Model][]).map(([name, { osVersions, browserVersions, ...model }]) => [
    name,
    osVersions.flatMap((osVersion) =>
      (browserVersions ?? [osVersion]).map((browserVersion) => {
        const ofSystem = model.userAgent.replace('{os_}', osVersion.replaceAll('.', '_')).replace('{os}', osVersion)
        return { ...model, osVersion, browserVersion, userAgent: ofSystem.replaceAll('{browser}', browserVersion) }
      }),
    ),
  ]),
  // Object.fromEntries loses the key type.
) as unknown as Record<ModelName, readonly Device[]>

export const bots = botsTable as unknown as Shares<Device>
