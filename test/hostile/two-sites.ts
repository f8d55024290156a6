/** Two sites that differ only in what a visitor may not read, asked the same (SEC-6). */

import { expect } from 'chai'
import { putAll } from '../support/content.ts'
import { type Client, client, type Fields } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { told } from './told.ts'

export type Request = readonly [method: string, target: string, fields?: Fields, body?: string]

export interface TwoSites {
  servers: readonly [TestServer, TestServer]
  /** Stores the same files on both, or those of each. */
  put(files: Readonly<Record<string, string | readonly [string, string]>>): Promise<void>
  /**
   * Sends requests to both and compares what they tell.
   *
   * @returns the statuses, in order
   */
  same(requests: readonly Request[]): Promise<number[]>
  close(): Promise<void>
}

/** @param site settings of both; nothing may be read without a rule unless they say so */
export async function twoSites(site: Record<string, unknown> = { defaultGet: 'deny' }): Promise<TwoSites> {
  const servers = [await startServer({ site }), await startServer({ site })] as const
  // Answers that set a cookie are private anyway.
  const visitors: Client[] = []
  for (const { port } of servers) {
    const { headers } = await client(port)('GET', '/')
    visitors.push(client(port, { Cookie: headers['set-cookie']?.split(';')[0] }))
  }
  return {
    servers,
    async put(files) {
      for (const [at, server] of servers.entries())
        await putAll(
          server,
          Object.fromEntries(
            Object.entries(files).map(([path, text]) => [path, typeof text === 'string' ? text : (text[at] ?? '')]),
          ),
        )
    },
    async same(requests) {
      const statuses: number[] = []
      for (const [method, target, fields, body] of requests) {
        const answers = []
        for (const visitor of visitors) answers.push(await visitor(method, target, fields, body))
        const [one, two] = answers.map(told)
        expect(one, `${method} ${target} ${JSON.stringify(fields)}`).to.equal(two)
        statuses.push(answers[0]?.status ?? 0)
      }
      return statuses
    },
    async close() {
      for (const server of servers) await server.close()
    },
  }
}
