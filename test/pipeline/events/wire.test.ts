import { expect } from 'chai'
import { describe, it } from 'mocha'
import { mutationEvent } from '../../../pipeline/events/mutation.ts'
import {
  connectionFrame,
  mutationFrame,
  PING,
  resetFrame,
  retryFrame,
  withoutBody,
} from '../../../pipeline/events/wire.ts'
import { NS } from '../../support/content.ts'
import { bodyOf, property } from './event-source.ts'

describe('wire format of event streams', () => {
  it('EVT-11 the connection event, with the word of the brand and without id', () => {
    expect(connectionFrame('my-site', 'token').toString()).to.equal('event: my-site-connection\ndata: token\n\n')
  })

  it('EVT-48 a reset, without id', () => {
    expect(resetFrame(NS, 'events-expired').toString()).to.equal(
      `event: reset\ndata: <article itemscope itemtype="${NS}/StreamReset">\ndata:   <span itemprop="reason">events-expired</span>\ndata: </article>\n\n`,
    )
  })

  it('EVT-12 EVT-83 comments and waits are blocks of their own', () => {
    expect(PING.toString()).to.equal(': ping\n\n')
    expect(retryFrame(1500).toString()).to.equal('retry: 1500\n\n')
  })

  const lines: [text: string, wire: string][] = [
    ['a', 'data: a'],
    ['a\nb', 'data: a\ndata: b'],
    ['a\r\nb', 'data: a\ndata: b'],
    ['a\rb', 'data: a\ndata: b'],
    ['a\n\nb', 'data: a\ndata: \ndata: b'],
    ['a\r\n\r\nb', 'data: a\ndata: \ndata: b'],
    ['a\r\rb', 'data: a\ndata: \ndata: b'],
    ['a\n', 'data: a\ndata: '],
    ['\na', 'data: \ndata: a'],
    [': x\nid: 9-9', 'data: : x\ndata: id: 9-9'],
    ['\u2028\u2029\u0085\f\v', 'data: \u2028\u2029\u0085\f\v'],
    ['\u00e9\u{1f600}\ufeff', 'data: \u00e9\u{1f600}\ufeff'],
  ]
  for (const [text, wire] of lines)
    it(`EVT-10 ${JSON.stringify(text)} as data lines`, () => {
      expect(mutationFrame('1-0', text).toString()).to.equal(`id: 1-0\nevent: mutation\n${wire}\n\n`)
    })

  it('EVT-66 a body is taken out, and nothing else, whatever it looks like', () => {
    const bodies = ['', '<p>x</p>', '<div itemprop="body"></div>', '</div>\n</article>', '<div>', '<!-- </div> -->']
    for (const body of bodies) {
      const { payload } = mutationEvent(
        NS,
        'a.example',
        { method: 'PUT', selector: '<div itemprop="body">', etag: '"x"', path: '/</div>', body, placement: 'after' },
        {},
      )
      const bare = withoutBody(payload)
      expect(bodyOf(bare), body).to.equal('')
      expect(bare).to.equal(payload.replace(`<div itemprop="body">${body}</div>`, () => '<div itemprop="body"></div>'))
      expect(property(bare, 'selector')).to.equal('<div itemprop="body">')
    }
  })
})
