// Script of the documentation page: shows the OpenAPI document, checks the API key and keeps it for the session.

const storageName = 'tributary-key'
const form = document.getElementById('key-form')
const input = form.elements.namedItem('key')
const status = document.getElementById('key-status')

// Relative to the page, which a proxy may serve below a path of its own.
const baseUrl = new URL('.', location.href).href.replace(/\/$/, '')

/** Optional parameters whose description this many operations have are folded. */
const usesMin = 4

const content = await loadDocument()
let key = ''
document.getElementById('reference').replaceChildren()
const reference = globalThis.Scalar.createApiReference('#reference', configuration())

form.addEventListener('submit', (event) => {
  event.preventDefault()
  useKey(input.value.trim())
})
// Without this script, the browser would send the form with the key in the address.
form.querySelector('button').disabled = false
input.value = sessionStorage.getItem(storageName) ?? ''
if (input.value) useKey(input.value)

/**
 * The document with the address of this page, so that requests go to the server that the page came from, and without regular
 * expressions: descriptions say what a value is.
 */
async function loadDocument() {
  const text = await (await fetch(`${baseUrl}/docs/json`)).text()
  const [{ url }] = JSON.parse(text).servers
  const isPattern = (name, value) => name === 'pattern' && typeof value === 'string'
  const api = JSON.parse(text.replaceAll(url, baseUrl), (name, value) => (isPattern(name, value) ? undefined : value))
  const operations = Object.values(api.paths).flatMap((methods) => Object.values(methods))
  // Samples have the parameters that are required.
  for (const parameter of operations.flatMap(({ parameters = [] }) => parameters))
    if (parameter.schema['x-required-without']) parameter.required = true
  foldShared(operations)
  for (const [status, response] of operations.flatMap(({ responses }) => Object.entries(responses)))
    if (status >= '400') response.description += ' [What to do](#tag/errors)'
  return api
}

/** Moves optional parameters that many operations have to the end of the description, folded. */
function foldShared(operations) {
  const uses = Map.groupBy(
    operations.flatMap(({ parameters = [] }) => parameters),
    ({ description }) => description,
  )
  for (const operation of operations) {
    const { parameters = [], responses } = operation
    const folded = parameters.filter((one) => !one.required && uses.get(one.description).length >= usesMin)
    if (folded.length < 2) continue
    operation.parameters = parameters.filter((one) => !folded.includes(one))
    const lines = [...Map.groupBy(folded, textOf)].map(
      ([text, described]) => `- ${described.map(({ name }) => `\`${name}\``).join(', ')}: ${text}`,
    )
    operation.description += `\n\n<details><summary>${folded.length} parameters of many operations</summary>\n\n${lines.join('\n')}\n\nIn **Test Request**, add a parameter as a row of its own.\n\n</details>`
    for (const { name } of folded)
      responses[400].description = responses[400].description.replace(`, \`invalid_${name}\``, '')
  }
}

function textOf({ description, schema: { enum: values, items } }) {
  const choices = values ?? items?.enum
  return choices ? `${description} One of ${choices.join(', ')}.` : description
}

/** Checks a key with the server; a valid one is sent with all requests of this page until the tab is closed. */
async function useKey(text) {
  show('', 'Checking …')
  const response = await fetch(`${baseUrl}/key`, { headers: { authorization: `ApiKey ${text}` } }).catch(
    () => undefined,
  )
  const body = await response?.json().catch(() => undefined)
  key = response?.ok ? text : ''
  if (key) {
    sessionStorage.setItem(storageName, key)
    show('valid', `${body.accountName}: ${body.scopes.length} scopes`)
  } else {
    sessionStorage.removeItem(storageName)
    // The first clause: the second one says which header a program sends.
    show('invalid', body?.message.split(';')[0] ?? 'The server cannot be reached.')
  }
  reference.updateConfiguration(configuration())
}

function show(state, message) {
  status.dataset.state = state
  status.textContent = message
}

function configuration() {
  return {
    // The code of guides and samples of the client have the key too.
    content: key ? JSON.parse(JSON.stringify(content).replaceAll(/(?<=ApiKey |['"])trb_live_…/g, key)) : content,
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    hideClientButton: true,
    documentDownloadType: 'none',
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    authentication: {
      preferredSecurityScheme: 'apiKey',
      // Samples show it; a header cannot have the character that the field above shows.
      securitySchemes: { apiKey: { value: `ApiKey ${key || 'trb_live_...'}` } },
    },
  }
}
