/** @returns the address of the server, the argument `--url` of the packages */
export function serverUrl(baseUrl: string): string {
  return baseUrl.replace(/\/api\/v1$/, '')
}
