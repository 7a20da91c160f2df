/** The package has no types; this is the part that the tests use. */
declare module 'openapi-to-postmanv2' {
  interface Result {
    result: boolean
    /** Why `result` is false. */
    reason?: string
    output?: { type: string; data: unknown }[]
  }
  interface Option {
    /** As the import dialog shows it. */
    name: string
    id: string
    /** Whether the dialog shows it. */
    external: boolean
  }
  const converter: {
    getOptions(mode: 'document'): Option[]
    convertV2(
      input: { type: 'string'; data: string },
      options: Record<string, unknown>,
      done: (error: Error | null, result?: Result) => void,
    ): void
  }
  export default converter
}
