// Prints every click that converted, newest first: TRIBUTARY_URL=… TRIBUTARY_KEY=… node docs/examples/pull.mjs
import { createTributary } from 'tributary-client'

const { TRIBUTARY_URL: baseUrl = 'http://127.0.0.1:3000', TRIBUTARY_KEY: apiKey = '' } = process.env
const tributary = createTributary({ baseUrl, apiKey })

for await (const click of tributary.rows('/clicks', { query: { converted: true, limit: 200 } })) {
  console.log(click.clickedAt, click.campaignName, click.country, click.conversionCount)
}
