/** A site without a server, whose schemas' code is run by functions of the test. */

import { fullAuthority } from '../../../pipeline/authority.ts'
import { memoryBody } from '../../../pipeline/body.ts'
import { localLeases } from '../../../pipeline/coordination/local/leases.ts'
import type { CodeHost, CodeHosts } from '../../../pipeline/model/code.ts'
import { perform } from '../../../pipeline/operation.ts'
import { documentCache } from '../../../pipeline/site/cache.ts'
import { Site } from '../../../pipeline/site/site.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { putDocument } from '../../../pipeline/write/document.ts'
import { writeElement } from '../../../pipeline/write/element.ts'
import { NS } from '../../support/content.ts'
import { openTemporary } from '../store/fixture.ts'
import { SCHEMA_HOST } from './markup.ts'

export interface HostedSite {
  site: Site
  /** What the site has told the log. */
  reports: { message: string }[]
  /** PUTs a whole page, or a file of another type. */
  put(path: string, text: string, type?: string): Promise<void>
  /** POSTs into the list of a page; what was inserted. */
  append(path: string, item: string): Promise<string>
  text(path: string): Promise<string>
  /** The site as another start would open it; with its derived data made anew if wanted. */
  reopen(anew?: boolean): Promise<Site>
  close(): Promise<void>
}

const authority = () => fullAuthority

/** @param shelf a store that is open already, and the name of a site in it that is new */
export async function openHosted(
  code: CodeHost | CodeHosts,
  shelf?: { store: Store; name: string },
): Promise<HostedSite> {
  const opened = shelf ? undefined : await openTemporary()
  const store = (opened ?? shelf)?.store.site(shelf?.name ?? 'example.org')
  if (!store) throw new Error('no store')
  const settings = {
    host: 'example.org',
    brand: 'platform',
    ns: NS,
    errorNs: `${NS}/error`,
    schemaHost: SCHEMA_HOST,
    defaultGet: 'allow' as const,
    maxBody: 1e8,
    maxDocument: 1e8,
    sessionContentMax: 1e6,
  }
  const reports: { message: string }[] = []
  let basis: string | undefined
  const open = () =>
    Site.open({
      settings,
      store,
      leases: localLeases(),
      cache: documentCache(),
      basis: {
        read: async () => basis,
        write: async written => {
          basis = written
        },
      },
      report: (message, details) => reports.push({ message, ...details }),
      code: typeof code === 'function' ? code : () => code,
    })
  const site = await open()
  const text = async (path: string) => Buffer.from((await site.find(path))?.bytes ?? []).toString()
  return {
    site,
    reports,
    text,
    async put(path, content, type = 'text/html') {
      const bytes = Buffer.from(content)
      const write = { path, type, conditions: undefined, cause: {} }
      await perform(putDocument(site, write, authority), memoryBody(bytes))
    },
    async append(path, item) {
      const range = { unit: 'selector', selector: '#list', wire: '#list' } as const
      const write = { path, op: 'post', range, placement: 'append' } as const
      const operation = writeElement(site, { ...write, conditions: undefined, cause: {} }, authority)
      const answer = await perform(operation, memoryBody(Buffer.from(item)))
      return String(answer.body)
    },
    reopen(anew = false) {
      if (anew) basis = undefined
      return open()
    },
    close: async () => opened?.close(),
  }
}

/** Code that a test's host runs by its name. */
export function code(slot: string, name: string, type = `${NS}/JavaScript/Module`): string {
  return `<div itemprop="${slot}" itemscope itemtype="${type}"><script itemprop="source">${name}</script></div>`
}
