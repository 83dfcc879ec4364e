// Paths of the server that more than one folder names.

/** The endpoint of MCP. */
export const mcpPath = "/mcp";

/** The OpenAPI description. */
export const openApiPath = "/openapi.json";

/** The reference pages. */
export const referencePath = "/docs";
