import type { TSchema } from '@sinclair/typebox'
import type { RouteOptions } from 'fastify'
import { ApiSchema } from '../../../schema/apiSchema.ts'
import { dimensions, entityDimensionNames, eventAttributeNames } from '../../../schema/dimensions.ts'
import { takesFilters } from '../../../schema/filters.ts'
import { type ListedMetric, reportMetricNames, reportMetricTexts } from '../../../schema/metrics.ts'
import { apiPrefix } from '../../http/accessControl.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { hasAttribute, rowTables } from '../../query/attributes.ts'
import { eventsHave } from '../../query/eventRows.ts'
import { isTime } from '../../query/facts/plan.ts'
import { valueOperators } from '../../query/filterTree.ts'
import { metricDefinitions } from '../../query/metricDefinitions.ts'

export function schemaRoutes(app: App, { querySchemas }: RouteContext): void {
  app.get('/schema', {
    schema: {
      tags: ['Account'],
      summary: 'List dimensions, metrics and filters',
      description: 'The names that reports, stats and lists take, for tools that let a person choose.',
      response: { 200: ApiSchema },
    },
    config: { scope: 'any', servesView: () => true },
    handler: async ({ caller: { view } }) => {
      const open = [...querySchemas].filter(([, { config }]) => !view || config?.servesView?.(view))
      return {
        dimensions: apiSchema.dimensions.map(({ resources, ...dimension }) => ({
          ...dimension,
          resources: view?.hidden.includes('cost') ? resources.filter((one) => one !== 'costs') : resources,
        })),
        metrics: apiSchema.metrics.filter(({ name }) => !view?.hiddenNames.has(name)),
        filters: filtersOf(open),
      }
    },
  })
}

/** The dimensions and metrics that 1.0.0 does not have. */
const namesSince2: readonly string[] = [...entityDimensionNames, ...eventAttributeNames, 'events', 'eventVisitors']
const sinceOf = (name: string) => (namesSince2.includes(name) ? '2.0.0' : '1.0.0')

const apiSchema: Omit<ApiSchema, 'filters'> = {
  dimensions: dimensions.map((name) => ({
    name,
    since: sinceOf(name),
    resources: [
      ...rowTables.filter((table) => isTime(name) || hasAttribute(name, table)),
      ...(isTime(name) || eventsHave(name) ? (['events'] as const) : []),
    ],
  })),
  metrics: reportMetricNames.map((name) => ({
    name,
    description: reportMetricTexts[name],
    since: sinceOf(name),
    ...computationOf(name),
  })),
}

function computationOf(name: ListedMetric): Pick<ApiSchema['metrics'][number], 'formula' | 'unit'> {
  const definition = metricDefinitions[name]
  if (definition.kind === 'difference')
    return { formula: `${definition.minuend} - ${definition.subtrahend}`, unit: 'money' }
  if (definition.kind !== 'ratio') return { formula: null, unit: definition.unit }
  const { numerator, denominator, times } = definition
  const quotient = `${numerator} / ${denominator}`
  return times === 100 ? { formula: `100 * ${quotient}`, unit: 'percent' } : { formula: quotient, unit: 'money' }
}

/** @returns the filters of routes, in their order */
function filtersOf(routes: readonly [string, RouteOptions][]): ApiSchema['filters'] {
  const filters = new Map<string, ApiSchema['filters'][number]>()
  for (const [url, { schema }] of routes) {
    const { properties = {} } = (schema?.querystring ?? {}) as TSchema
    const parameters: Marked[] = properties.filters ? [properties.filters] : Object.values(properties)
    // The parameter of a single filter takes values, and values after `!`.
    const operators = properties.filters ? Object.keys(valueOperators) : ['is', 'is_not']
    for (const name of parameters.flatMap((parameter) => parameter[takesFilters] ?? [])) {
      const { endpoints } = filters.get(name) ?? ({ endpoints: [] } as Pick<ApiSchema['filters'][number], 'endpoints'>)
      const alike = endpoints.find((one) => one.operators.length === operators.length)
      if (alike) alike.paths.push(url.slice(apiPrefix.length))
      else endpoints.push({ paths: [url.slice(apiPrefix.length)], operators })
      filters.set(name, { name, endpoints })
    }
  }
  return [...filters.values()]
}

type Marked = { [takesFilters]?: readonly string[] }
