import fc from 'fast-check'

// vitest.config.ts chooses the seed.
fc.configureGlobal({ seed: Number(process.env.TRIBUTARY_TEST_SEED) })
