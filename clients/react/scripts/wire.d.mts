/** The types of an OpenAPI document's schemas, as the text of a module. */
export function toTypeScript(document: unknown): string
