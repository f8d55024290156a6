/** What the command line does to one site without serving it: export, import, explain. */

import type { Settings } from '../config/schema.ts'
import { siteTable } from '../config/sites.ts'
import { Access, type Key } from '../pipeline/access/decision.ts'
import { explain as explainAccess } from '../pipeline/access/explain.ts'
import { principalFromClaims, refusalStatus } from '../pipeline/access/principal.ts'
import { documentCache } from '../pipeline/cache.ts'
import { localLeases } from '../pipeline/coordination/local/leases.ts'
import { toSelector } from '../pipeline/decide.ts'
import { canonicalPath } from '../pipeline/http/path.ts'
import { importFolder } from '../pipeline/import.ts'
import { Site } from '../pipeline/site.ts'
import type { Store } from '../pipeline/store/store.ts'
import { exportSite } from '../pipeline/store/transfer.ts'
import { selectFirst } from '../pipeline/tree/selector/selector.ts'
import type { Commands, ExplainedRule, Explanation, Question } from './cli/commands.ts'
import { basisOf } from './hosting.ts'
import { createLog } from './log.ts'
import { openStore } from './running.ts'
import { siteRules } from './site-rules.ts'

/** Opens one site for the time of some work. */
async function withSite<T>(
  settings: Settings,
  name: string,
  work: (site: Site, store: Store) => Promise<T>,
): Promise<T> {
  const log = createLog(settings.log, 2)
  const store = await openStore(settings, log)
  try {
    const found = siteTable(settings).siteFor(name)
    if (!found) throw new Error(`No site of the settings answers for ${name}.`)
    const site = await Site.open({
      settings: siteRules(found),
      store: store.site(found.host),
      leases: localLeases(),
      cache: documentCache(),
      basis: basisOf(store, found.host),
      report: () => undefined,
    })
    return await work(site, store)
  } finally {
    await store.close()
  }
}

export const exportCommand: Commands['export'] = (settings, { site: name, directory, progress }) =>
  withSite(settings, name, site => exportSite(site.store, directory, { progress }))

export const importCommand: Commands['import'] = (settings, { site: name, directory, progress }) =>
  withSite(settings, name, (site, store) =>
    importFolder(site, store, directory, done => progress({ step: 'importing', done: done.files })),
  )

export const explain: Commands['explain'] = (settings, question) =>
  withSite(settings, question.site, async site => {
    const { method, path, user, email, roles } = question
    const claims = { sub: user, ...(email !== undefined && { email, email_verified: true }) }
    const principal = user === undefined ? undefined : principalFromClaims(claims, roles)
    const facts = { method, path, headers: () => undefined, queryString: '' }
    const access = new Access(site.rules, { facts, ...(principal && { principal }) }, site.settings)
    const key = await keyOf(site, question)
    const found = explainAccess(access, method, path, key)
    const explanation: Explanation = {
      allowed: found.permitted,
      ...(!found.permitted && { status: refusalStatus(principal) }),
      reason: reasonOf(found.decision, found.permitted, method),
      rules: found.rules.filter(rule => rule.applies).map(toExplained),
    }
    return explanation
  })

async function keyOf(site: Site, { path, selector }: Question): Promise<Key | undefined> {
  if (selector === undefined) return undefined
  const held = await site.find(canonicalPath(path))
  if (!held?.isDocument) return undefined
  const document = site.tree(held)
  const element = selectFirst(toSelector(selector), document)
  return element && { element, document }
}

function reasonOf(decision: string, permitted: boolean, method: string): string {
  if (decision === 'allow') return 'A matching rule allows it, and none of its tier denies it.'
  if (decision === 'deny') return 'A matching rule of the deciding tier denies it.'
  return permitted
    ? 'No rule matches, and the site lets everybody read what no rule speaks of (defaultGet).'
    : `No rule matches, so ${method} is denied.`
}

function toExplained(rule: ReturnType<typeof explainAccess>['rules'][number]): ExplainedRule {
  return {
    document: rule.document,
    action: rule.action,
    tier: rule.tier,
    actor: rule.actors.join(', '),
    resource: rule.resources.join(', '),
    method: rule.methods.join(', '),
    ...(rule.selector !== undefined && { selector: rule.selector }),
  }
}
