/** Values of the parameter `filters` that are the costliest within its limits. */
export const costlyTrees = {
  'filters of 100 conditions': treeOf(Array.from({ length: 100 }, (_, n) => ['contains', 'sub1', [`${n}`]])),
  'filters nested four deep': treeOf(
    Array.from({ length: 50 }, (_, n) => [
      'not',
      [
        'or',
        [
          ['contains', 'city', [`${n}`]],
          ['is_not', 'os', ['x']],
        ],
      ],
    ]),
  ),
  'filters of 4 KiB of escapes': `[["contains","referrer_domain",["${'\\u0451'.repeat(660)}"]]]`,
}

/** Values that are refused: brackets as deep as they fit, and texts that are no JSON. */
export const refusedTrees = ['['.repeat(4_000), `${'["not",'.repeat(500)}1${']'.repeat(500)}`, '["\\u'.repeat(800)]

function treeOf(conditions: readonly unknown[]): string {
  return JSON.stringify([['or', conditions]])
}
