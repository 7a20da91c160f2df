import './storage.ts'
import { render } from 'preact'
import 'uplot/dist/uPlot.min.css'
import './explore.css'
import './panels.css'
import './tables.css'
import { App } from './app.tsx'
import { keepFocus } from './focus.ts'

keepFocus()
render(<App />, document.body)
