/** Transitions of items that change with a write elsewhere: cascades, and documents that move (REA-103, REA-122, MOD-56). */

import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { eventually } from '../../support/eventually.ts'
import { type Receiver, receiver } from './receiver.ts'
import { meta, NS, page, type ReactingSite, reactingSite, request } from './site.ts'

const LOAN = 'https://library.example/Loan'
const COPY = 'https://library.example/Copy'
const SHELF = 'https://library.example/Shelf'
const OTHER = 'https://library.example/Other'
let site: ReactingSite
let to: Receiver | undefined
afterEach(async () => {
  await site?.close()
  await to?.close()
  to = undefined
})

const property = (name: string, fields: Record<string, string> = {}) =>
  `<div itemprop="property" itemscope itemtype="${NS}/Property">${meta('name', name)}${Object.entries(fields)
    .map(([field, value]) => meta(field, value))
    .join('')}</div>`
const schema = (type: string, ...properties: string[]) =>
  `<div itemscope itemtype="${NS}/Schema">${meta('type', type)}${properties.join('')}</div>`
/** Loans refer to copies by number. */
const schemas = (cardinality: string) =>
  page(
    schema(COPY, property('number', { unique: 'true' })) +
      schema(LOAN, property('copy', { references: `${COPY}#number`, cascade: 'true', cardinality })),
  )
const constraint = (name: string, from: string[], toStates: string[], type = LOAN) =>
  `<div hidden itemscope itemtype="${NS}/TransitionConstraint">${meta('selector', `[itemtype='${type}']`)}${meta('property', name)}${from.map(each => meta('from', each)).join('')}${toStates.map(each => meta('to', each)).join('')}</div>`
const handler = (name: string, becomes: string, type = LOAN) =>
  `<div hidden itemscope itemtype="${NS}/TransitionHandler">${meta('selector', `[itemtype='${type}']`)}${meta('property', name)}${meta('becomes', becomes)}${request('action', { url: `${to?.url}/hook` })}</div>`
const copyItem = (number: string) => `<p itemscope itemtype="${COPY}"><b itemprop="number">${number}</b></p>`
const loan = (copy: string, state: string) =>
  `<div itemscope itemtype="${LOAN}"><i itemprop="copy">${copy}</i><b itemprop="state">${state}</b></div>`
const start = (documents: Record<string, string>) => reactingSite(documents, { site: { allowOutbound: true } })
const stored = async (path: string) => (await site.ask('GET', path)).text

describe('Transitions that follow from a write', () => {
  const removals: [title: string, method: string, headers: Record<string, string>, body?: string][] = [
    ['the document is deleted', 'DELETE', {}],
    ['the element is deleted', 'DELETE', { Range: 'selector=p' }],
    ['another document takes its place', 'PUT', {}, page('empty')],
  ]
  for (const [title, method, headers, body] of removals)
    it(`REA-103, MOD-56 an exit elsewhere needs a rule when ${title}`, async () => {
      site = await start({
        '/schemas.html': schemas('1..1'),
        '/rules-of-state.html': page(constraint('state', ['back'], [])),
        '/copy.html': page(copyItem('1')),
        '/other-copy.html': page(copyItem('2')),
        '/out.html': page(loan('1', 'out')),
        '/loans.html': page(`<main>${loan('1', 'back')}${loan('2', 'out')}</main>`),
      })
      const before = await stored('/loans.html')
      const refused = await site.ask(method, '/copy.html', { headers, ...(body !== undefined && { body }) })
      expect([refused.status, /transition/i.test(refused.text), /referential/i.test(refused.text)]).to.deep.equal([
        409,
        true,
        true,
      ])
      expect(refused.text).not.to.include('/out.html')
      expect(await stored('/loans.html')).to.equal(before)
      expect(await stored('/out.html')).to.include('out')
      // Once it is back it may go, with the copy; the loan beside it, which nobody could tell apart by a key, stays.
      const back = { headers: { Range: 'selector=b' }, body: '<b itemprop="state">back</b>' }
      expect((await site.ask('PUT', '/out.html', back)).status).to.equal(422)
      expect((await site.ask('DELETE', '/rules-of-state.html')).status).to.equal(204)
      expect((await site.ask('PUT', '/out.html', back)).status).to.equal(206)
      const rules = page(constraint('state', ['back'], []))
      expect((await site.ask('PUT', '/rules-of-state.html', { body: rules })).status).to.equal(201)
      expect(
        (await site.ask(method, '/copy.html', { headers, ...(body !== undefined && { body }) })).status,
      ).to.be.below(300)
      expect((await site.ask('GET', '/out.html')).status).to.equal(404)
      expect(await stored('/loans.html'))
        .to.include(loan('2', 'out'))
        .and.not.to.include('back')
    })

  it('REA-103 a value that is taken away by a cascade needs an exit', async () => {
    site = await start({
      '/schemas.html': schemas('0..n'),
      '/rules-of-copy.html': page(constraint('copy', [], ['1', '2'])),
      '/copy.html': page(copyItem('1')),
      '/loan.html': page(loan('1', 'out')),
    })
    expect((await site.ask('DELETE', '/copy.html')).status).to.equal(409)
    expect(await stored('/loan.html')).to.include('<i itemprop="copy">1</i>')
    expect((await site.ask('GET', '/copy.html')).status).to.equal(200)
  })

  it('REA-103, REA-122 a value that is rewritten is a step of each item, and fires its handlers', async () => {
    to = await receiver()
    site = await start({
      '/schemas.html': schemas('1..1'),
      '/rules-of-copy.html': page(constraint('copy', ['1'], ['2'])),
      '/handlers.html': page(handler('copy', '2')),
      '/copy.html': page(copyItem('1')),
      '/a.html': page(loan('1', 'out')),
      '/b.html': page(`${loan('1', 'out')}${loan('1', 'back')}`),
    })
    const rename = (number: string) =>
      site.ask('PUT', '/copy.html', {
        headers: { Range: 'selector=b' },
        body: `<b itemprop="number">${number}</b>`,
      })
    expect((await rename('3')).status).to.equal(409)
    expect(await stored('/a.html')).to.include(loan('1', 'out'))
    expect((await rename('2')).status).to.equal(206)
    expect(await stored('/b.html'))
      .to.include(loan('2', 'out'))
      .and.to.include(loan('2', 'back'))
    await eventually(() => expect(to?.got).to.have.length(3))
    const paths = to.got.map(({ body }) => /itemprop="path" content="([^"]*)"/.exec(body)?.[1])
    expect(paths.sort()).to.deep.equal(['/a.html', '/b.html', '/b.html'])
    expect(to.got.every(({ body }) => body.includes('<i itemprop="copy">2</i>'))).to.equal(true)
  })

  it('REA-103 a cascade inside the written document is judged as well', async () => {
    site = await start({
      '/schemas.html': schemas('1..1'),
      '/rules-of-state.html': page(constraint('state', ['back'], [])),
      '/all.html': page(`<main>${copyItem('1')}${copyItem('2')}${loan('1', 'out')}${loan('2', 'back')}</main>`),
    })
    const remove = (n: number) =>
      site.ask('DELETE', '/all.html', { headers: { Range: `selector=p:nth-of-type(${n})` } })
    expect((await remove(1)).status).to.equal(409)
    expect(await stored('/all.html')).to.include('out')
    expect((await remove(2)).status).to.equal(204)
    expect(await stored('/all.html'))
      .to.include('out')
      .and.not.to.include('back')
  })

  const [late, ticket] = [`<b itemprop="state">late</b>`, '<i itemprop="loan">L</i>']
  const number = (value: string) => `<b itemprop="number">${value}</b>`
  const item = (type: string, content: string) =>
    `<div itemprop="body" itemscope="" itemtype="${type}">${content}</div>`
  const loaned = (copy: string) =>
    `<p itemscope="" itemtype="${LOAN}"><i itemprop="ticket">L</i><i itemprop="copy">${copy}</i></p>`
  /** Refers to a loan by ticket, and that to a copy by number: what is written is around neither value. */
  const shelf = item(SHELF, `${ticket}<section>${copyItem('1')}</section>${loaned('1')}`)
  const changedFurther: [does: string, cardinality: string, before: string, section: string, told: string[]][] = [
    [
      'rewrites a value in it',
      '1..1',
      item(COPY, `<section>${number('1')}</section>${loaned('1')}`),
      late + number('2'),
      [item(COPY, `<section>${late}${number('2')}</section>${loaned('2')}`)],
    ],
    ['takes a value from it', '0..n', shelf, late, [item(SHELF, `<section>${late}</section>`)]],
    ['removes it', '1..1', shelf, late, []],
  ]
  for (const [does, cardinality, before, section, told] of changedFurther)
    it(`REA-122, REA-125 a handler tells of an item as it is after the commit when the cascade of the write ${does}`, async () => {
      to = await receiver()
      site = await start({
        '/schemas.html': page(
          schema(COPY, property('number', { unique: 'true' })) +
            schema(
              LOAN,
              property('ticket', { unique: 'true' }),
              property('copy', { references: `${COPY}#number`, cascade: 'true', cardinality: '1..1' }),
            ) +
            schema(SHELF, property('loan', { references: `${LOAN}#ticket`, cascade: 'true', cardinality })),
        ),
        '/handlers.html': page(
          handler('state', 'late', SHELF) + handler('state', 'late', COPY) + handler('state', 'last', OTHER),
        ),
        '/all.html': page(`<main>${before}</main>`),
      })
      const edit = { headers: { Range: 'selector=section' }, body: `<section>${section}</section>` }
      const reply = await site.ask('PUT', '/all.html', edit)
      expect(reply.status, reply.text).to.equal(206)
      const end = page(`<div itemscope itemtype="${OTHER}"><b itemprop="state">last</b></div>`)
      expect((await site.ask('PUT', '/last.html', { body: end })).status).to.equal(201)
      await eventually(() => expect(site.running.outbound.figures()).to.include({ waiting: 0, inFlight: 0 }))
      await eventually(() => expect(to?.got.filter(({ body }) => body.includes(OTHER))).to.have.length(1))
      const bodies = to.got.map(({ body }) => body).filter(body => !body.includes(OTHER))
      const items = bodies.map(body => /<div itemprop="body".*?<\/div>/s.exec(body)?.[0])
      expect(items).to.deep.equal(told)
      const now = await stored('/all.html')
      for (const each of told) expect(now).to.include(each)
      if (told.length === 0) expect(now).not.to.include('late')
    })

  it('REA-103 cascades of the mount are not judged, and fire nothing', async () => {
    to = await receiver()
    site = await start({
      '/schemas.html': schemas('1..1'),
      '/rules-of-copy.html': page(constraint('copy', ['1'], ['9'])),
      '/handlers.html': page(handler('copy', '2')),
      '/copy.html': page(copyItem('1')),
      '/a.html': page(loan('1', 'out')),
    })
    const authorization = `Basic ${Buffer.from(`${site.user}:${site.password}`).toString('base64')}`
    const reply = await fetch(`${site.mountUrl}/copy.html`, {
      method: 'PUT',
      headers: { authorization, Range: 'selector=b' },
      body: '<b itemprop="number">2</b>',
    })
    expect(reply.status).to.be.below(300)
    expect(await stored('/a.html')).to.include(loan('2', 'out'))
    expect(site.running.outbound.figures()).to.include({ waiting: 0, inFlight: 0, delivered: 0 })
  })
})

describe('Transitions of documents that move', () => {
  const machine = page(constraint('state', [], ['out']) + constraint('state', ['back'], []))
  const move = (from: string, Destination: string) => site.ask('MOVE', from, { headers: { Destination } })

  it('REA-103 items keep their identity: nothing is judged, nothing fires', async () => {
    to = await receiver()
    site = await start({
      '/machine.html': machine,
      '/handlers.html': page(handler('state', 'late')),
      '/a.html': page(loan('1', 'late') + loan('2', 'late')),
    })
    expect((await move('/a.html', '/b.html')).status).to.equal(204)
    expect(await stored('/b.html')).to.include('late')
    expect(site.running.outbound.figures()).to.include({ waiting: 0, inFlight: 0, delivered: 0 })
  })

  it('REA-103 what stands at the destination exits', async () => {
    site = await start({
      '/machine.html': machine,
      '/a.html': page('a'),
      '/late.html': page(loan('1', 'late')),
      '/back.html': page(loan('1', 'back')),
    })
    expect((await move('/a.html', '/late.html')).status).to.equal(422)
    expect(await stored('/a.html')).to.equal(page('a'))
    expect((await move('/a.html', '/back.html')).status).to.equal(204)
  })

  it('REA-103, REA-122 under a name of another kind items come to be, or cease to be', async () => {
    to = await receiver()
    site = await start({
      '/machine.html': machine,
      '/handlers.html': page(handler('state', 'out')),
      '/late.txt': page(loan('1', 'late')),
      '/out.txt': page(loan('1', 'out')),
    })
    expect((await move('/late.txt', '/late.html')).status).to.equal(422)
    expect((await move('/out.txt', '/out.html')).status).to.equal(204)
    await eventually(() => expect(to?.got).to.have.length(1))
    expect(to.got[0]?.body).to.include('content="/out.html"')
  })
})
