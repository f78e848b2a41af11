/** The API page: Swagger UI over the server's own OpenAPI document. */

import 'swagger-ui-dist/swagger-ui.css'
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'

SwaggerUI({
  dom_id: '#docs',
  url: '/openapi.json',
  deepLinking: true,
  docExpansion: 'list',
  // Without this, Swagger UI sends the document's address to a validator on another server.
  validatorUrl: null,
})
