import { render } from 'preact'
import 'uplot/dist/uPlot.min.css'
import './explore.css'
import './panels.css'
import './tables.css'
import { App } from './app.tsx'
import { takeKey } from './key.ts'

// First of all, so that the key is not in the address while the page loads.
const key = takeKey()
const root = document.getElementById('explore')
root?.replaceChildren()
if (root) render(<App givenKey={key} />, root)
