import { ApiSchema } from '../../../schema/apiSchema.ts'
import { dimensions } from '../../../schema/dimensions.ts'
import { filterNames, namesInTree, type ParameterName } from '../../../schema/filters.ts'
import { metricTexts, type ReportMetric, reportMetricNames } from '../../../schema/metrics.ts'
import type { App } from '../../http/context.ts'
import { hasAttribute, rowTables } from '../../query/attributes.ts'
import { isTime } from '../../query/facts/plan.ts'
import { valueOperators } from '../../query/filterTree.ts'
import { metricDefinitions } from '../../query/metricDefinitions.ts'

export function schemaRoutes(app: App): void {
  app.get('/schema', {
    schema: {
      tags: ['Account'],
      summary: 'List dimensions, metrics and filters',
      description: 'The names that reports, stats and lists take, for tools that let a person choose.',
      response: { 200: ApiSchema },
    },
    config: { scope: 'any' },
    handler: async () => apiSchema,
  })
}

const apiSchema: ApiSchema = {
  dimensions: dimensions.map((name) => ({
    name,
    resources: rowTables.filter((table) => isTime(name) || hasAttribute(name, table)),
  })),
  metrics: reportMetricNames.map((name) => ({
    name,
    description: descriptionOf(name),
    since: '1.0.0',
    ...computationOf(name),
  })),
  filters: [...new Set<ParameterName>(Object.values(namesInTree).flat())].map((name) => ({
    name,
    operators: Object.keys(valueOperators),
    resources: resourcesOf(name),
  })),
}

function descriptionOf(name: ReportMetric): string {
  return name === 'visitors'
    ? 'Distinct visitors of the clicks; a click without a visitor counts as one.'
    : metricTexts[name]
}

function computationOf(name: ReportMetric): Pick<ApiSchema['metrics'][number], 'formula' | 'unit'> {
  if (name === 'visitors') return { formula: null, unit: 'count' }
  const definition = metricDefinitions[name]
  if (definition.kind === 'difference')
    return { formula: `${definition.minuend} - ${definition.subtrahend}`, unit: 'money' }
  if (definition.kind !== 'ratio') return { formula: null, unit: definition.unit }
  const { numerator, denominator, times } = definition
  const quotient = `${numerator} / ${denominator}`
  return times === 100 ? { formula: `100 * ${quotient}`, unit: 'percent' } : { formula: quotient, unit: 'money' }
}

function resourcesOf(name: ParameterName): ApiSchema['filters'][number]['resources'] {
  const has = (names: readonly ParameterName[]) => names.includes(name)
  return [
    ...(has(namesInTree.clicks) ? (['clicks'] as const) : []),
    ...(has(namesInTree.conversions) ? (['conversions'] as const) : []),
    ...(has(namesInTree.costs) ? (['costs'] as const) : []),
    ...(has(namesInTree.facts) ? (['reports', 'stats'] as const) : []),
    ...(has(filterNames) ? (['funnels'] as const) : []),
  ]
}
