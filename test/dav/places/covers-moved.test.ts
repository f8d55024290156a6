/** Where drafts and put-off removals meet COPY and MOVE: what the mount shows decides (DAV-48, DAV-60, DAV-62, DAV-72). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Client } from '../../support/http.ts'
import { inNewFolders, property, propertyUpdate, propfindBody, shown, to, type Wire } from '../wire.ts'

describe('drafts and removals as sources and destinations', () => {
  let wire: Wire
  let dav: Client
  let at = ''
  inNewFolders((folder, started) => {
    ;[at, wire, dav] = [folder, started, started.dav]
  })

  for (const [what, make] of [
    ['a file', () => dav('PUT', `${at}n.html`, {}, '<p>new')],
    ['a draft', () => dav('PUT', `${at}n.html`, {}, '')],
    ['a collection', () => dav('MKCOL', `${at}n.html/`)],
    ['a work file', () => dav('PUT', `${at}~$n`, {}, '<p>new')],
    [
      'a work collection',
      async () => {
        await dav('MKCOL', `${at}.Trashes/`)
        await dav('MKCOL', `${at}.Trashes/n/`)
      },
    ],
  ] as const)
    for (const method of ['MOVE', 'COPY'])
      it(`DAV-48 DAV-72 ${method} of ${what} with Overwrite: F to a name that was renamed away is 201`, async () => {
        await make()
        await dav('PUT', `${at}x.html`, {}, '<p>old')
        await dav('MOVE', `${at}x.html`, to(`${at}x.html~`))
        const from = what === 'a work file' ? '~$n' : what === 'a work collection' ? '.Trashes/n/' : 'n.html'
        const { status } = await dav(method, at + from, to(`${at}x.html`, { Overwrite: 'F' }))
        expect(status).to.equal(201)
        const isCollection = what.includes('collection')
        expect(await property(dav, `${at}x.html`, 'resourcetype')).to.equal(isCollection ? 'collection' : '')
        if (!isCollection) expect((await dav('GET', `${at}x.html`)).text).to.equal(what === 'a draft' ? '' : '<p>new')
        if (what.includes('file')) expect(await shown(wire.visitor, `${at}x.html`)).to.equal('<p>new')
      })

  for (const method of ['MOVE', 'COPY']) {
    for (const covered of [false, true])
      it(`DAV-34 ${method} of a draft onto a ${covered ? 'document with a draft' : 'document'} brings its properties`, async () => {
        await dav('PUT', `${at}n.html`, {}, '')
        await dav('PROPPATCH', `${at}n.html`, {}, propertyUpdate(['{urn:x}mood', 'calm']))
        await dav('PUT', `${at}x.html`, {}, '<p>old')
        await dav('PROPPATCH', `${at}x.html`, {}, propertyUpdate(['{urn:x}mood', 'wild'], ['{urn:x}age', '7']))
        if (covered) await dav('PUT', `${at}x.html`, {}, '')
        expect((await dav(method, `${at}n.html`, to(`${at}x.html`))).status).to.equal(204)
        const found = (await dav('PROPFIND', `${at}x.html`, { Depth: '0' }, propfindBody('{urn:x}mood', '{urn:x}age')))
          .text
        expect(found).to.include('calm').and.not.include('wild').and.not.include('>7<')
        expect(await shown(wire.visitor, `${at}x.html`)).to.equal('<p>old')
      })

    it(`DAV-48 HTTP-20 ${method} of a draft gives it the type of its new name`, async () => {
      await dav('PUT', `${at}x.xml`, {}, '')
      await dav(method, `${at}x.xml`, to(`${at}y.html`))
      expect(await property(dav, `${at}y.html`, 'getcontenttype')).to.match(/^text\/html/)
    })
  }
})
