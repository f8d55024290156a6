import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { explainRequest } from '../../../pipeline/explain-request.ts'
import { siteFindings } from '../../../pipeline/findings.ts'
import { enumeration, instance, meta, primitive, property, schema, shape } from '../../pipeline/model/markup.ts'
import { reaction, request } from '../../pipeline/react/site.ts'
import { NS, page, putAll, ruleMarkup, rulesPage } from '../../support/content.ts'
import { client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

describe('declarations that may not say what they were meant to', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
    await putAll(server, { '/rules.html': rulesPage(['*', 'PUT', 'Allow', '/free/*']) })
  })
  after(() => server.close())

  const good = page(schema('https://a.example/T', {}, property('p', { type: primitive('Text'), cardinality: '0..1' })))
  const bad = page(schema('https://a.example/T', {}, property('p', { type: primitive('Strng'), cardinality: '1..2' })))
  const put = (path: string, body: string) => {
    const authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
    return client(Number(new URL(server.mountUrl).port))('PUT', path, { authorization }, body)
  }
  const findings = async () =>
    (await explainRequest(server.site, { method: 'GET', path: '/', roles: [] })).findings?.join('\n') ?? ''

  it('MOD-8 are told to whoever stores them, with where to read more, and by explain', async () => {
    expect((await put('/models.html', good)).headers).to.not.have.any.keys('platform-findings', 'link')
    expect(await findings()).to.equal('')
    const { status, headers } = await put('/models.html', bad)
    expect(status).to.equal(204)
    expect(headers).to.include({
      'platform-findings': '2',
      link: '</-platform/explain?path=%2Fmodels.html>; rel="help"',
    })
    const authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
    const [, report = ''] = /<(.*)>/.exec(headers.link ?? '') ?? []
    const told = await client(Number(new URL(server.mountUrl).port))('GET', report, { authorization })
    expect(told.text).to.include('the cardinality 1..2 is none of')
    expect(await findings()).to.include('/models.html: the property p of https://a.example/T: the cardinality 1..2')
    expect(await findings()).to.include('did you mean https://schema.org/String?')
    expect((await put('/models.html', good)).headers).to.not.have.property('platform-findings')
    expect(await findings()).to.equal('')
  })

  it('SEC-8 MOD-8 item types that are nearly those of declarations are told, too; what the site has of its own is not', async () => {
    const ns = 'https://platform.example/ns'
    const meant: [type: string, name?: string][] = [
      [`${ns}/AuthorisationRule`, 'AuthorizationRule'],
      [`${ns}/authorizationrule`, 'AuthorizationRule'],
      [`${ns}/1.0/Trigger`, 'Trigger'],
      ['http://platform.example/ns/Schema', 'Schema'],
      ['{ns}/ShapeConstraint', 'ShapeConstraint'],
      [`${ns}/Groups`, 'Group'],
      [`${ns}/Trigger`],
      [`${ns}/Invoice`],
      [`${ns}/Error`],
      [`${ns}/Grouped`],
      ['https://a.example/AuthorisationRule'],
      ['https://schema.org/Enum'],
      ['https://schema.org/Enumeration'],
    ]
    const items = meant.map(([type]) => `<i itemscope itemtype="${type}"></i>`).join('')
    const { headers } = await put('/near.html', page(items))
    const told = meant.flatMap(([type, name]) =>
      name ? [`/near.html: items of the type ${type} declare nothing; did you mean ${ns}/${name}?`] : [],
    )
    const all = (await findings()).split('\n')
    expect(all.filter(line => line.includes('did you mean'))).to.deep.equal(told)
    expect(headers['platform-findings']).to.equal(String(all.length))
    await put(
      '/near.html',
      page(`<i itemscope itemtype="${ns}/Enum"></i><i itemscope itemtype="{schema_host}/Enum"></i>`),
    )
    expect((await findings()).match(/did you mean https:\/\/schema.org\/Enum\?/g)).to.have.length(2)
    const governed = page(`${schema(`${ns}/Groups`, {})}<i itemscope itemtype="${ns}/Groups"></i>`)
    expect((await put('/near.html', governed)).headers).to.not.have.property('platform-findings')
  })

  /** A rule for everybody, with more in it. */
  const rule = (more: string) => ruleMarkup(['*', 'PUT', 'Allow', '/a.html']).replace(/<\/(\w+)>$/, `${more}</$1>`)
  const typed = (name: string, body: string) => `<div hidden itemscope itemtype="${NS}/${name}">${body}</div>`
  const code = (slot: string, source: string, language = 'Sessel') =>
    `<div itemprop="${slot}" itemscope itemtype="${NS}/${language}"><script itemprop="source">${source}</script></div>`
  const ofRule = (reason: string) => `item 1 of the type ${NS}/AuthorizationRule: ${reason}`
  const of = (name: string, reason: string) => `item 1 of the type ${NS}/${name}: ${reason}`
  const means = (field: string, meant: string) => `the field ${field} says nothing; did you mean ${meant}?`
  const denied = (...selectors: string[]) =>
    selectors.map(selector => ruleMarkup(['*', 'PUT', 'Deny', '/*', selector])).join('')
  const unsigned = (place: string, name: string, meant: string) =>
    `${place} asks for an element ${name}, which neither HTML nor a document of the site has; did you mean ${meant}?`
  const T = 'https://a.example/F'
  const method = (name: string) =>
    `<div itemprop="property" itemscope itemtype="${NS}/Method">${meta('name', name)}${code('implementation', 'true')}</div>`
  const cells = ['actor', 'method', 'action', 'resource']
    .map(name => `<td itemprop="${name}">${name === 'action' ? 'Allow' : '*'}</td>`)
    .join('')

  const silent: [what: string, markup: string, ...told: string[]][] = [
    ['a name with a letter too much', rule(meta('selectors', '#a')), ofRule(means('selectors', 'selector'))],
    ['a capital', rule(meta('Selector', '#a')), ofRule(means('Selector', 'selector'))],
    ['two letters swapped', rule(meta('selcetor', '#a')), ofRule(means('selcetor', 'selector'))],
    ['another word for what is missing', rule(meta('css', '#a')), ofRule(means('css', 'selector'))],
    ['the same beside what it means', rule(meta('css', '#a') + meta('selector', '#a'))],
    [
      'a value where none is read',
      rule('<meta itemprop="selector" value="#a">'),
      ofRule('the field selector has no value: write it in content, or as text'),
    ],
    [
      'an item for a text',
      rule('<i itemprop="selector" itemscope>#a</i>'),
      ofRule('the field selector is an item and no text, so that it says nothing'),
    ],
    ['a blank field', rule(meta('selector', ''))],
    [
      'what a row cannot hold',
      `<table><tr itemscope itemtype="${NS}/AuthorizationRule">${cells}${meta('selector', '#a')}</tr></table>`,
      ofRule('the field selector stands in front of its table: rows hold cells alone'),
    ],
    [
      'what a paragraph cannot hold',
      `<p itemscope itemtype="${NS}/Group"><i itemprop="name">g</i><ul itemprop="member"></ul></p>`,
      of('Group', 'the field member stands behind its paragraph, which HTML ends there: write a div'),
    ],
    [
      'notes of the author',
      rule(
        ['note', 'description', 'author', 'title', 'reason', 'source', 'date'].map(name => meta(name, 'x')).join(''),
      ),
    ],
    ['a field of a nested item', rule('<i itemscope><b itemprop="selectors">x</b></i>')],
    [
      'no item, alone',
      `<div itemtype="${NS}/Trigger"></div>`,
      `an element of the type ${NS}/Trigger has no itemscope, so that it declares nothing`,
    ],
    [
      'no item, beside one',
      `${rule('')}<div itemtype="${NS}/AuthorizationRule"></div>`,
      `an element of the type ${NS}/AuthorizationRule has no itemscope, so that it declares nothing`,
    ],
    [
      'no item, in a template or of a type of the site',
      `<template><i itemtype="${NS}/Trigger"></i></template><i itemtype="${T}"></i>`,
    ],
    [
      'members',
      typed('Group', meta('name', 'g') + meta('members', 'a@x.example')),
      of('Group', means('members', 'member')),
    ],
    ['a slot without its sign', schema(T, {}, code('validate', 'true')), of('Schema', means('validate', '@validate'))],
    [
      'a slot without code',
      schema(T, {}, '<script itemprop="@validate">true</script>'),
      of(
        'Schema',
        'the field @validate is no code, so that nothing runs: write an item of a language, or a script of the type text/sessel',
      ),
    ],
    [
      'a method that is no property',
      schema(T, {}, property('p'), typed('Method', '').replace('<div', '<div itemprop="method"')),
      of('Schema', means('method', 'property')),
    ],
    [
      'a property that is no item',
      schema(T, { property: 'title' }),
      of('Schema', 'the field property is no item, so that it says nothing: its element needs itemscope and a type'),
    ],
    [
      'itemref',
      schema(T).replace('itemscope', 'itemscope itemref="x"'),
      of('Schema', 'fields that it names with itemref are not read; write them inside of it'),
    ],
    [
      'fields of a property',
      schema(T, {}, property('p', { cardinalty: '1..1', '@key': 'yes' })),
      of('Property', 'the field @key is yes, and counts only as true'),
      of('Property', means('cardinalty', 'cardinality')),
    ],
    ['permits', shape({ constraint: ':root', permits: 'p' }), of('ShapeConstraint', means('permits', 'permit'))],
    [
      'values',
      enumeration(`${T}/E`, 'a').replace('itemprop="value"', 'itemprop="values"'),
      'item 1 of the type https://schema.org/Enum: the field values says nothing; did you mean value?',
      `the enumeration ${T}/E has no value: it permits none`,
    ],
    [
      'a gate of another name',
      reaction('Trigger', { action: '1' }).replace(/<\/div>$/, `${code('if', 'true')}</div>`),
      of('Trigger', means('if', 'when')),
    ],
    [
      'a state of another name',
      typed('TransitionConstraint', ['selector', 'property', 'form', 'to'].map(name => meta(name, 'p')).join('')),
      of('TransitionConstraint', means('form', 'from')),
    ],
    [
      'code that does not parse',
      schema(T, {}, code('@validate', '(')),
      `the code of @validate in the schema of ${T} does not parse: line 1, column 2: the program ends here, expected an expression`,
    ],
    [
      'code without a source',
      schema(T, {}, code('@validate', '', 'JavaScript/Module')),
      `the code of @validate in the schema of ${T} has no source: nothing runs`,
    ],
    [
      'a module without default export',
      schema(
        T,
        {},
        code('@validate', 'export function valid() { return true }', 'JavaScript/Module'),
        property('p', { markup: { markup: code('@write', 'export default v => v', 'JavaScript/Module') } }),
      ),
      `the code of @validate in the schema of ${T} has no default export: nothing runs`,
    ],
    [
      'itemref to what is not there',
      `${rule('').replace('itemscope', 'itemscope itemref="there gone"')}<p id="there"></p>`,
      ofRule("its itemref names gone, which is no element's id"),
    ],
    [
      'code of no language',
      schema(T, {}, property('p', { markup: { markup: code('@write', '1', 'Python') } })),
      `the code of @write of p in the schema of ${T} is of the type ${NS}/Python, which is none`,
    ],
    [
      'names by which nothing is found',
      schema(`${T} x`, {}, property('p'), property('p'), property('a b')),
      ...[
        'its type holds white space, so that no item has it',
        'the property p is declared twice: the first counts',
      ].map(reason => `the schema of ${T} x: ${reason}`),
      `the schema of ${T} x: the property a b holds white space, so that no element has it`,
    ],
    [
      'a method that is nearly that of groups',
      schema(T, { parent: `${NS}/Group` }, method('include')),
      `the schema of ${T}: the method include decides about no group; did you mean includes?`,
    ],
    [
      'requests that cannot be sent',
      reaction('Trigger', {
        action: [request('action', { url: 'hook' }), request('action', { url: '/hook', method: 'SEND' })],
      }),
      'a request of a trigger is never sent: the url cannot be read',
      'a request of a trigger is never sent: the method SEND is none that can be',
    ],
    [
      'a transition that watches nothing',
      typed(
        'TransitionHandler',
        `${meta('selector', 'li[')}${meta('property', 'p')}${meta('becomes', 'x')}${request('action', { url: 'ftp://a' })}`,
      ),
      'the selector li[ of a transition does not parse: it watches nothing',
      'a request of a transition handler is never sent: the url is neither http nor https',
    ],
    [
      'a selector without its sign, in any kind of declaration',
      denied('li > Secret, :not(own)', 'p secret') +
        shape({ selector: 'own', constraint: ':root' }) +
        reaction('Trigger', { selector: 'named', action: '1' }) +
        typed(
          'TransitionConstraint',
          meta('selector', 'both') + ['property', 'from', 'to'].map(name => meta(name, 'x')).join(''),
        ) +
        '<b id="own" class="a secret both"></b><b id="both"></b>',
      unsigned('the selector li > Secret, :not(own) of rule 1', 'secret', '.secret'),
      unsigned('the selector li > Secret, :not(own) of rule 1', 'own', '#own'),
      unsigned('the selector p secret of rule 2', 'secret', '.secret'),
      unsigned('the selector own of a shape', 'own', '#own'),
      unsigned('the selector named of reaction 1, a trigger', 'named', '.named or #named'),
      unsigned('the selector both of a transition constraint', 'both', '.both or #both'),
    ],
    [
      'a selector of an element that HTML or a document has, or that an author makes',
      `${denied('marquee', 'x-secret', 'p\\:secret', 'secret', 'DIV.secret', '[secret]', `#\${request.auth.sub}`)}<secret></secret>`,
    ],
    [
      'an action that does not parse',
      reaction('Processor', { action: ')' }),
      'the code of "action" of reaction 1, a processor does not parse: line 1, column 1: unexpected “)”, expected an expression',
    ],
  ]
  for (const [what, markup, ...told] of silent)
    it(`RULE-13 MOD-8 REA-4 ${what}`, async () => {
      const { headers } = await put('/fields.html', page(markup))
      const all = await siteFindings(server.site)
      expect(all).to.deep.equal(told.map(reason => `/fields.html: ${reason}`))
      expect(headers['platform-findings']).to.equal(told.length === 0 ? undefined : String(told.length))
    })

  it('RULE-13 PATH-4 a Deny for the page of a folder, where something stands below it', async () => {
    const lines: [actors: string, methods: string, action: string, resources: string, selector?: string][] = [
      ['*', 'GET', 'Deny', '/private/'],
      ['*', 'PUT|post', 'deny', '/a.html|/empty/'],
      ['*', 'GET', 'Deny', '/'],
      ['*', 'GET', 'Deny', '/page/'],
      ['*', 'GET', 'Allow', '/private/'],
      ['*', 'POST', 'Deny', '/private/'],
      ['*', 'GET', 'Deny', '/private/', 'p'],
      ['*', 'GET', 'Deny', '/b/*/'],
      ['*', 'GET', 'Deny', '/both/'],
      ['*', '*', 'Deny', '/bo*'],
    ]
    const rules = page(lines.map(ruleMarkup).join(''))
    await putAll(server, { '/private/a.html': page('a'), '/page/index.html': page('b'), '/both/a.html': page('c') })
    const { headers } = await put('/fields.html', rules)
    const told = (rule: number, folder: string) =>
      `/fields.html: the Deny of rule ${rule} for ${folder} is for the page of that folder alone; with all below it: ${folder}*`
    expect(await siteFindings(server.site)).to.deep.equal([told(1, '/private/'), told(2, '/empty/')])
    expect(headers['platform-findings']).to.equal('2')
  })

  it('MOD-8 are told on the public surface as well, and pages without any have no such field', async () => {
    const http = client(server.port)
    expect((await http('PUT', '/free/page.html', {}, page('x'))).headers).to.not.have.property('platform-findings')
  })

  it('MOD-8 are those of the page that an edit of an element leaves', async () => {
    await putAll(server, { '/fields.html': page('') })
    const http = client(server.port)
    const target = '<p id="t"></p>'
    const found = async (markup: string, path = 'Range') => {
      const edit = { 'Content-Type': 'text/html', ...(path === 'Range' && { Range: 'selector=#t' }) }
      const { status, headers } = await http('PUT', '/free/edited.html', edit, markup)
      expect(status).to.be.oneOf([201, 204, 206])
      return headers['platform-findings']
    }
    const bare = `<i itemtype="${NS}/Trigger"></i>`
    expect(await found(page(`${rule(meta('selectors', '#a'))}${target}`), 'whole')).to.equal('1')
    expect(await found(`<p id="t">${bare}</p>`)).to.equal('2')
    expect(await found(`<p id="t">${bare}${bare}</p>`)).to.equal('2')
    expect(await found(`<div id="t">${rule(meta('css', '#a'))}</div>`)).to.equal('2')
    expect(await found(target)).to.equal('1')
  })

  it('RULE-12 GRP-4 a field that a schema declares of an item is meant as it is', async () => {
    const own = `${NS}/Trigger/Own`
    const body = (name: string) =>
      page(
        `${schema(T, { parent: `${NS}/Group` }, property(name))}${instance(T, { name: 'own', members: 'x' })}` +
          instance(`${NS}/Group ${own}`, { name: 'both', notes: 'x' }),
      )
    expect((await put('/fields.html', body('other'))).status).to.equal(204)
    expect((await put('/fields.html', body('other'))).headers['platform-findings']).to.equal('1')
    expect((await put('/fields.html', body('members'))).headers).to.not.have.property('platform-findings')
  })

  it('RULE-12 MOD-8 of what becomes a rule by a schema that comes later are told as well', async () => {
    const values = { actor: '*', method: 'PUT', action: 'Allow', resource: '/x', selectors: '#a' }
    await putAll(server, { '/free/edited.html': page(''), '/fields.html': page(instance(T, values)) })
    expect(await siteFindings(server.site)).to.deep.equal([])
    await putAll(server, { '/models.html': page(schema(T, { parent: `${NS}/AuthorizationRule` })) })
    expect(await siteFindings(server.site)).to.deep.equal([
      `/fields.html: item 1 of the type ${T}: ${means('selectors', 'selector')}`,
    ])
  })
})
