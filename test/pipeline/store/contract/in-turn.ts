/** Tests that have one store in turn, each with sites of its own: to open a store takes longer than what most of them do. */

import { after } from 'mocha'
import type { Store } from '../../../../pipeline/store/store.ts'
import { type Open, type Opened, START } from '../fixture.ts'

/** The store as if sites whose names begin otherwise were not there. */
function withSitesOf(prefix: string, store: Store): Store {
  const own = (names: string[]) => names.filter(name => name.startsWith(prefix)).map(name => name.slice(prefix.length))
  return Object.assign(Object.create(store) as Store, {
    site: (name: string) => store.site(prefix + name),
    sites: async () => own(await store.sites()),
    snapshot: <Result>(work: Parameters<typeof store.snapshot<Result>>[0]) =>
      store.snapshot<Result>(state =>
        work({ site: name => state.site(prefix + name), sites: async () => own(await state.sites()) }),
      ),
  })
}

/**
 * To be called in the suite whose tests have the store in turn. They open it with the same options, see to nothing that is
 * not in a site, and go back in time only to where they begin. A test that opens it again or changes it behind its back is
 * the last one to have it.
 */
export function inTurn(open: Open): Open {
  let kept: Opened | undefined
  let turn = 0
  after(() => kept?.close())
  return async options => {
    const opened = kept ?? (await open(options))
    kept = opened
    const prefix = `t${++turn}.`
    opened.clock.now = START
    const spend = () => {
      kept = undefined
    }
    const lent: Opened = {
      ...opened,
      store: withSitesOf(prefix, opened.store),
      async reopen() {
        spend()
        lent.store = withSitesOf(prefix, await opened.reopen())
        return lent.store
      },
      async another() {
        spend()
        return withSitesOf(prefix, await opened.another())
      },
      async raw(sql) {
        spend()
        await opened.raw(sql)
      },
      async close() {
        if (kept !== opened) await opened.close()
      },
    }
    return lent
  }
}
