/** What requests wait for where several processes share documents, and which do not. */

import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { afterCatchingUp } from '../../server/catching-up.ts'
import { isForOperators } from '../../server/platform/routes.ts'
import { client } from '../support/http.ts'

const BRANDS = new Set(['platform', 'acme'])
const says =
  (status: number): RequestListener =>
  (_request, response) =>
    void response.writeHead(status).end()

async function statusOf(
  method: string,
  path: string,
  inStep: () => Promise<void> | undefined,
  { isOpen = true, host = 'localhost' } = {},
): Promise<number> {
  const parts = {
    handler: says(200),
    unready: says(503),
    isFree: (request: Parameters<RequestListener>[0]) =>
      isForOperators(request, { brands: BRANDS, open: { health: isOpen, metrics: isOpen } }),
  }
  const server = createServer(afterCatchingUp({ inStep }, parts))
  await new Promise<void>(resolve => server.listen(0, resolve))
  try {
    return (await client((server.address() as AddressInfo).port)(method, path, { Host: host })).status
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const fails = () => {
  const failed = Promise.reject(new Error('away'))
  failed.catch(() => undefined)
  return failed
}

describe('requests where several processes share documents', () => {
  for (const [method, path, status] of [
    ['GET', '/-platform/health', 200],
    ['GET', '/-acme/health/live', 200],
    ['HEAD', '/-platform/health/ready', 200],
    ['GET', '/-platform/health/ready?verbose', 200],
    ['GET', '/-platform/metrics', 200],
    ['GET', '/', 503],
    ['GET', '/-other/health', 503],
    ['GET', '/-platform/health/other', 503],
    ['GET', '/-platform/healthy', 503],
    ['GET', '/x/-platform/health', 503],
    ['POST', '/-platform/health', 503],
    ['GET', '/-platform/oidc/login', 503],
  ] as const)
    it(`HTTP-4 RULE-11 ${method} ${path} is ${status} where memory cannot be brought in step`, async () => {
      expect(await statusOf(method, path, fails)).to.equal(status)
      expect(await statusOf(method, path, () => undefined)).to.equal(200)
      expect(await statusOf(method, path, () => Promise.resolve())).to.equal(200)
    })

  it('HTTP-4 RULE-11 who is not answered there waits as for any document: at a site of another brand it may be one', async () => {
    const strange = { isOpen: false, host: 'site.example' }
    for (const path of ['/-acme/health/live', '/-platform/metrics']) {
      expect(await statusOf('GET', path, fails, strange), path).to.equal(503)
      expect(await statusOf('GET', path, fails, { isOpen: false }), path).to.equal(200)
    }
  })

  it('HTTP-4 operators hear of a process that waits for others without end', async () => {
    expect(await statusOf('GET', '/-platform/health/live', () => new Promise(() => undefined))).to.equal(200)
  })
})
