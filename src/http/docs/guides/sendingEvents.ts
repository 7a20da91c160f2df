import { propertyLimits } from '../../../../schema/event.ts'
import { batchLimits } from '../../../../schema/eventBatch.ts'

/** Sending single events and batches, and reading them back. */
export const sendingEventsGuide = (baseUrl: string) =>
  `
An event names its click (\`click_id\`), or a visitor and a campaign (\`visitor_id\` and \`campaign_id\`). The click or campaign must
belong to your account. An event never changes a conversion, a click or an amount in stats and reports.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' -H 'Content-Type: application/json' \\
  -d '{"click_id":"c-1","event_name":"trial_converted","event_id":"order-1042-paid"}' \\
  '${baseUrl}/events'
\`\`\`

**Retries.** 200 means that the event is stored, unless the response has \`recorded: false\` or answers a dry run. After a 503
response, or none, send it again with the same \`event_id\` within 24 hours: it is stored once. The duplicate gets 200 with \`deduplicated: true\`.
Later, the same \`event_id\` is another event.

**Batches.** \`POST /events/batch\` takes up to ${batchLimits.eventsMax.toLocaleString('en')} events, also as NDJSON with one event per line (\`application/x-ndjson\`). Each event is
accepted or rejected on its own: \`results\` has one result per event, in their order. After a 503 response, or none, send the whole
batch again. After 200, send again only the events with \`retryAfter\`, after that many seconds; other rejected events are invalid.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' -H 'Content-Type: application/json' \\
  -d '{"events":[{"click_id":"c-1","event_name":"signup","event_id":"user-7-signup"},
    {"click_id":"c-1","event_name":"purchase","event_id":"order-1043"}]}' \\
  '${baseUrl}/events/batch'
\`\`\`

**Dry run.** With \`dry_run=true\` an event or a batch is processed as usual, but nothing is stored. The response adds \`event\`, as it would be
stored, and \`notes\`: unknown fields, dropped properties and changed values. Without \`dry_run\`, the header \`X-Event-Notes\` of an event
has the codes of these notes, and a result of a batch has \`notes\` if there are any.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' -H 'Content-Type: application/json' \\
  -d '{"click_id":"c-1","event_name":"signup","eventId":"user-8-signup"}' \\
  '${baseUrl}/events?dry_run=true'
\`\`\`

**Properties.** Up to ${propertyLimits.keysMax} fields that you define: text of up to ${propertyLimits.textLengthMax} characters, finite numbers, booleans. Fields above a limit or
of another type are dropped, and the event is stored without them.

**Reading.** \`GET /events\` lists the events of your server and of the pixel, newest first, with the pages, exports and sync of other
lists. It filters by name, origin, campaign, click and visitor. \`GET /events/{id}\` returns the server event with an \`event_id\`.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/events?event_name=signup,purchase&origin=server'
\`\`\`
`.trim()
