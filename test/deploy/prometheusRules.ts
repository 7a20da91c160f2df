import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseYaml } from '@redocly/openapi-core'
import { packageRoot } from '../../src/package.ts'

export interface AlertRule {
  alert: string
  expr: string
  for?: string
  labels: { severity: 'critical' | 'warning' }
  annotations: { summary: string; action: string }
}

export const rulesFile = join(packageRoot, 'deploy/prometheus-rules.yaml')

const { groups } = parseYaml(readFileSync(rulesFile, 'utf8')) as { groups: { rules: AlertRule[] }[] }

export const alertRules = groups.flatMap(({ rules }) => rules)

/** The expression of an alert without its threshold. */
export function alertValue({ expr }: AlertRule): string {
  return expr.replace(/ (>|==) [\d.]+$/, '')
}
