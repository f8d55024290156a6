/**
 * Node's HTTP without what hangs on its exports: an `import` of `node:http` reads all of them, and those of WebSocket
 * load a client of 13 MB that nothing here uses. Types can be imported from there as usual.
 */

export const { createServer, request, STATUS_CODES, validateHeaderName, validateHeaderValue } =
  process.getBuiltinModule('node:http')
