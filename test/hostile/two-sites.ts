/** Two sites that differ only in what a visitor may not read, asked the same (SEC-6). */

import { expect } from 'chai'
import { putAll } from '../support/content.ts'
import { type Client, client, type Fields, type Received } from '../support/http.ts'
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
   * @param of whom they come from; the same anonymous visitor of both where nobody is named
   * @param plain takes from an answer what differs anyway
   * @returns the statuses, in order
   */
  same(requests: readonly Request[], of?: readonly Client[], plain?: (told: string) => string): Promise<number[]>
  /** Clients of both mounts. */
  mounts(user: string, password: string): readonly Client[]
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
    mounts: (user, password) =>
      servers.map(({ mountUrl }) =>
        client(Number(new URL(mountUrl).port), {
          Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
        }),
      ),
    async same(requests, of = visitors, plain = told => told) {
      const statuses: number[] = []
      for (const [method, target, fields, body] of requests) {
        const answers: Received[] = []
        for (const visitor of of) answers.push(await visitor(method, target, fields, body))
        const [one = '', two = ''] = answers.map((answer): string => plain(told(answer)))
        const sent = `${method} ${target} ${JSON.stringify(fields)} ${body}`
        if (one !== two) expect.fail(`${sent} is answered differently:\n${difference(one, two)}`)
        statuses.push(answers[0]?.status ?? 0)
      }
      return statuses
    },
    async close() {
      for (const server of servers) await server.close()
    },
  }
}

/** What two answers say from a little before the place at which they part. */
function difference(one: string, two: string): string {
  let at = 0
  while (at < one.length && one[at] === two[at]) at++
  return [one, two].map(text => `${text.split('\n')[0]} … ${text.slice(Math.max(0, at - 100), at + 100)}`).join('\n')
}
