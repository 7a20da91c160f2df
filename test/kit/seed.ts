import fc from 'fast-check'

// Random cases are the same ones in every run: a failure is repeatable, and a run that fails was changed by the commit.
// TRIBUTARY_TEST_SEED selects other cases; a suite with a seed of its own names another variable.
fc.configureGlobal({ seed: Number(process.env.TRIBUTARY_TEST_SEED ?? 20261121) })
