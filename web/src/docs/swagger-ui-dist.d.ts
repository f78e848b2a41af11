/** The package has no types of its own: only what the API page uses. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  interface Options {
    dom_id: string
    url: string
    deepLinking: boolean
    docExpansion: 'list' | 'full' | 'none'
    validatorUrl: string | null
  }
  const SwaggerUI: (options: Options) => unknown
  // biome-ignore lint/style/noDefaultExport: it is what the package exports
  export default SwaggerUI
}
