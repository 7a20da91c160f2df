// The one entry of the benchmarks: `npm run bench -- NAME [options]`; without a name it lists them. bench/README.md explains
// their questions, options and output.
const benchmarks: Readonly<Record<string, { question: string; load: () => Promise<unknown> }>> = {
  compare: { question: 'Is a commit slower than another one?', load: () => import('./compare.ts') },
  reads: { question: 'How long do reads take by size of the data?', load: () => import('./reads.ts') },
  events: { question: 'How many events per second are stored?', load: () => import('./events.ts') },
  'event-reads': { question: 'How long do funnels and lists of events take?', load: () => import('./eventReads.ts') },
  exports: { question: 'How many rows per second are exported?', load: () => import('./exports.ts') },
  feed: { question: 'How soon are fed rows visible, at what cost?', load: () => import('./feed.ts') },
  import: { question: 'How many clicks per second are imported?', load: () => import('./import.ts') },
  sync: { question: 'How fast is tributary-sync?', load: () => import('./sync.ts') },
}

const [, , name = ''] = process.argv
const benchmark = benchmarks[name]
if (benchmark) {
  process.argv.splice(2, 1)
  await benchmark.load()
} else {
  const lines = Object.entries(benchmarks).map(([known, { question }]) => `  ${known.padEnd(12)} ${question}`)
  console.error(['Usage: npm run bench -- NAME [options]', ...lines].join('\n'))
  process.exitCode = name === '' ? 0 : 2
}
