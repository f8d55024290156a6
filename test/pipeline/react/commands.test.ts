/** What operators see of reactions: commands and metrics. */

import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { loadSettings } from '../../../config/load.ts'
import { siteFindings } from '../../../pipeline/findings.ts'
import { explainReactions } from '../../../pipeline/react/explain.ts'
import { FAILED_PREFIX } from '../../../pipeline/react/outbound/entry.ts'
import { outbound } from '../../../server/site-commands.ts'
import { scriptorium } from '../../server/cli/terminal.ts'
import { eventually } from '../../support/eventually.ts'
import { type Receiver, receiver } from './receiver.ts'
import { meta, NS, page, processor, type ReactingSite, reactingSite, request, trigger } from './site.ts'

let site: ReactingSite
let to: Receiver | undefined
afterEach(async () => {
  await site?.close()
  await to?.close()
  to = undefined
})

describe('scriptorium reactions', () => {
  it('REA-11, REA-20 lists what may run, in order, and why', async () => {
    site = await reactingSite({
      '/b.html': page(
        processor({ method: 'GET', status: '404', action: '1' }) + trigger({ method: 'PUT', action: '1' }),
      ),
      '/a.html': page(
        trigger({
          resource: '/x*',
          when: '1',
          selector: 'p',
          action: [request('action', { url: 'https://hooks.example/s3cret?k=1' })],
          otherwise: '1',
        }),
      ),
      '/c.html': page(trigger({})),
    })
    const commands = {
      reactions: async (_: unknown, { method, path }: { method: string; path: string }) =>
        explainReactions(site.site, method, path),
    }
    const { code, output } = await scriptorium(['reactions', 'GET', '/x.html'], { commands })
    expect(code).to.equal(0)
    expect(output.trim().split('\n')).to.deep.equal([
      'trigger 1 of /a.html',
      '  fits: every method, resource /x*',
      '  if a selector of the request finds p',
      '  if its gate is open',
      '  calls hooks.example',
      '  else runs Sessel',
      'processor 1 of /b.html',
      '  fits: method GET, every path',
      '  if status 404',
      '  runs Sessel',
      'Other reactions of the site, which do not fit: 1.',
      '/c.html: a trigger without action is left out',
    ])
  })
})

describe('Reactions that are not as their author may think', () => {
  it('REA-4 REA-24 MOD-8 filters that fit nothing are told with all that is told of declarations', async () => {
    const transition = `<div itemscope itemtype="${NS}/TransitionConstraint">${meta('selector', 'a >> b')}${meta('property', 'state')}${meta('to', 'x')}</div>`
    site = await reactingSite({
      '/a.html': page(
        processor({ status: '2x', action: '1' }) + trigger({ status: '404', selector: 'ul > > li', action: '1' }),
      ),
      '/b.html': page(transition + processor({ status: '2xx', selector: 'li', action: '1' }) + trigger({})),
      '/c.html': page(trigger({ resource: 'x.html', method: 'SAVE', action: '1' })),
    })
    expect(await siteFindings(site.site)).to.deep.equal([
      '/a.html: the status 2x of a processor is none, such as 404 or 4xx: it never matches',
      '/a.html: the selector ul > > li of a trigger does not parse: it selects nothing',
      '/a.html: a trigger has a status, which is not known before the answer',
      '/b.html: a trigger without action is left out',
      '/b.html: the selector a >> b of a transition does not parse: it watches nothing',
      '/c.html: the resource x.html of a trigger does not begin with a slash, as every path does',
      '/c.html: the method SAVE of a trigger is none that runs one',
    ])
  })
})

describe('scriptorium outbound', () => {
  it('REA-86 lists requests without what may be secret, and sends a failed one again', async () => {
    let status = 500
    to = await receiver((_, response) => response.writeHead(status).end())
    const url = `${to.url}/s3cret`
    site = await reactingSite(
      { '/t.html': page(trigger({ resource: '/x', action: request('action', { url, body: 's3cret' }) })) },
      { site: { allowOutbound: true } },
    )
    await site.ask('GET', '/x')
    await eventually(async () => expect(await site.running.store.notes(FAILED_PREFIX)).to.have.length(1))
    const metrics = await (await fetch(`${site.url}/-platform/metrics`)).text()
    expect(metrics).to.include('scriptorium_outbound_outcomes_total{outcome="failed"} 1')
    const { settings } = await loadSettings({ file: `${site.data}/settings.json` })
    const commands = { outbound: (_: unknown, options: { resend: readonly string[] }) => outbound(settings, options) }
    await site.stop()
    status = 200
    const listed = await scriptorium(['outbound', '--json'], { commands })
    expect(listed.output).not.to.include('s3cret')
    const [call] = JSON.parse(listed.output)
    expect(call).to.include({ state: 'failed', attempts: 1, failure: 'status 500', host: `127.0.0.1:${to.port}` })
    expect((await scriptorium(['outbound', '--resend', 'nobody'], { commands })).code).to.equal(1)
    const again = await scriptorium(['outbound', '--resend', call.delivery], { commands })
    expect(again.output).to.include('waiting')
    site = await reactingSite({}, { data: site.data, site: { allowOutbound: true } })
    await eventually(() => expect(to?.got).to.have.length(2))
    expect(to.got[1]).to.include({ body: 's3cret' })
    expect(to.got[1]?.headers['platform-delivery']).to.equal(call.delivery)
  })
})
