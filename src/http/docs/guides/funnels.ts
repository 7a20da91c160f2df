/** Funnels and journeys of events, clicks and conversions. @param baseUrl address of the API */
export const funnelsGuide = (baseUrl: string) =>
  `
\`GET /funnels\` counts the visitors that pass through two to eight steps: event names, \`click\` and \`conversion\`. It includes the events
of your server and of the pixel.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/funnels?steps=click,signup,purchase&days=7&group_by=country'
\`\`\`

The first step lies in the range; all others follow within \`window\` (default 7 days), also after the range. Each visitor counts once, by
the longest sequence of steps, the earliest of equal ones. \`by=click\` counts clicks. Filters and \`group_by\` apply to the first step.

**Collect and measure.** Send the steps with the same click or visitor, and read the funnel with the scope \`read:events\`:

\`\`\`js
const headers = { Authorization: 'ApiKey trb_live_…' }
const events = ['signup', 'trial_started', 'purchase'].map((event_name) => ({ click_id: 'c-1', event_name, event_id: 'user-9-' + event_name }))
const sent = await fetch('${baseUrl}/events/batch', {
  method: 'POST',
  headers: { ...headers, 'Content-Type': 'application/json' },
  body: JSON.stringify({ events }),
})
if (!sent.ok) throw new Error((await sent.json()).message)
const funnel = await fetch('${baseUrl}/funnels?steps=signup,trial_started,purchase&days=7', { headers })
if (!funnel.ok) throw new Error((await funnel.json()).message)
for (const { step, entered, fromFirst } of (await funnel.json()).steps) console.log(step, entered, fromFirst)
\`\`\`

\`\`\`python
import json, urllib.request

request = urllib.request.Request(
    '${baseUrl}/funnels?steps=signup,purchase&days=7&window=30d',
    headers={'Authorization': 'ApiKey trb_live_…'},
)
with urllib.request.urlopen(request) as response:
    for step in json.load(response)['steps']:
        print(step['step'], step['entered'], step['medianSeconds'])
\`\`\`

**One visitor.** \`GET /journeys\` lists the clicks, events and conversions of a visitor or click, oldest first. \`kind\` is \`click\`,
\`event\` or \`conversion\`, \`at\` the time, and the other fields are the fields of the list of that kind. A visitor has the rows with its id
and the events and conversions of its clicks. \`omitted\` names the kinds that the key has no scope for. Test rows, clicks of bots and
conversions of any status are included.

\`\`\`sh
curl -H 'Authorization: ApiKey trb_live_…' '${baseUrl}/journeys?click_id=c-1&limit=10'
\`\`\`

\`\`\`js
const { data, omitted } = await (
  await fetch('${baseUrl}/journeys?click_id=c-1', { headers: { Authorization: 'ApiKey trb_live_…' } })
).json()
for (const row of data) console.log(row.at, row.kind, row.eventName ?? '', row.status ?? '')
console.log('omitted:', omitted.join(', '))
\`\`\`

\`\`\`python
import json, urllib.request

request = urllib.request.Request(
    '${baseUrl}/journeys?click_id=c-1', headers={'Authorization': 'ApiKey trb_live_…'}
)
with urllib.request.urlopen(request) as response:
    for row in json.load(response)['data']:
        print(row['at'], row['kind'], row['id'])
\`\`\`
`.trim()
