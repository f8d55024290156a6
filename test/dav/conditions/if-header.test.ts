import { expect } from 'chai'
import fc from 'fast-check'
import { evaluateIf, type IfHeader, type IfWorld, parseIf } from '../../../dav/conditions/if-header.ts'
import { Fault } from '../../../pipeline/fault.ts'
import { faultOf } from '../../pipeline/http/fault.ts'
import { RUNS } from '../../pipeline/http/seed.ts'
import { takesLess } from '../../support/cost.ts'

/** Lists as text: `uri? [not ]<token> …`. */
function shape({ lists }: IfHeader): string[] {
  return lists.map(({ uri, conditions }) => {
    const each = conditions.map(condition => {
      const text = 'token' in condition ? `<${condition.token}>` : `[${condition.weak ? 'W/' : ''}"${condition.tag}"]`
      return condition.not ? `not ${text}` : text
    })
    return `${uri === undefined ? '' : `${uri}: `}${each.join(' ')}`
  })
}

describe('the If header', () => {
  const read: [header: string, lists: string[], submitted?: string[]][] = [
    ['(<urn:a>)', ['<urn:a>'], ['urn:a']],
    ['(<urn:a>) (<urn:b>)', ['<urn:a>', '<urn:b>'], ['urn:a', 'urn:b']],
    ['(<urn:a> ["e"])', ['<urn:a> ["e"]'], ['urn:a']],
    ['(<urn:a>["e"])', ['<urn:a> ["e"]'], ['urn:a']],
    ['(Not <urn:a>)', ['not <urn:a>'], ['urn:a']],
    ['(not<urn:a> NOT["e"] nOt\t<urn:b>)', ['not <urn:a> not ["e"] not <urn:b>'], ['urn:a', 'urn:b']],
    ['(<urn:a>) (Not <DAV:no-lock>)', ['<urn:a>', 'not <DAV:no-lock>'], ['urn:a', 'DAV:no-lock']],
    ['([W/"e"])', ['[W/"e"]'], []],
    ['([""])', ['[""]'], []],
    ['(["a]b)c<d>"])', ['["a]b)c<d>"]'], []],
    ['</a> (<urn:a>)', ['/a: <urn:a>'], ['urn:a']],
    ['</a>(<urn:a>)</b>(<urn:b>)', ['/a: <urn:a>', '/b: <urn:b>'], ['urn:a', 'urn:b']],
    ['<http://h/a> (<urn:a>) (["e"])', ['http://h/a: <urn:a>', 'http://h/a: ["e"]'], ['urn:a']],
    ['(<urn:a>) </b> (<urn:b>)', ['<urn:a>', '/b: <urn:b>'], ['urn:a', 'urn:b']],
    ['(<urn:a>), (<urn:b>)', ['<urn:a>', '<urn:b>'], ['urn:a', 'urn:b']],
    [' \t, (<urn:a>) ,,\t', ['<urn:a>'], ['urn:a']],
    ['( <urn:a> , ["e"] )', ['<urn:a> ["e"]'], ['urn:a']],
    ['([ "e" ])', ['["e"]'], []],
    ['(<urn:a> <urn:a>)', ['<urn:a> <urn:a>'], ['urn:a']],
  ]
  for (const [header, lists, submitted = []] of read) {
    it(`DAV-89 reads ${header}`, () => {
      const parsed = parseIf(header)
      expect(shape(parsed)).to.deep.equal(lists)
      expect([...parsed.submitted]).to.deep.equal(submitted)
    })
  }

  const refused = [
    '',
    ' , ',
    '()',
    '( )',
    '(Not)',
    '(',
    ')',
    '(<urn:a>',
    '(<urn:a)',
    '(<>)',
    '(<urn a>)',
    '(<<urn:a>>)',
    '(<urn:a>))',
    '((<urn:a>))',
    '<urn:a>',
    '</a>',
    '</a> </b> (<urn:a>)',
    '(<urn:a>) </b>',
    '<> (<urn:a>)',
    '(["e)',
    '(["e")',
    '([e])',
    '([])',
    '([W/])',
    '([w/"e"])',
    '(["e" "f"])',
    '(urn:a)',
    '("e")',
    'urn:a',
    '<urn:a> <urn:a>',
    'Not (<urn:a>)',
    '(Not Not <urn:a>)',
    '(Nothing <urn:a>)',
    '*',
    '(<urn:a>);(<urn:b>)',
  ]
  for (const header of refused) {
    it(`DAV-89 refuses ${header === '' ? 'an empty field' : header}`, () => {
      expect(faultOf(() => parseIf(header))).to.equal('400 BadRequest')
    })
  }

  const TOKENS: Record<string, string[]> = { '/a': ['urn:a', 'urn:deep'], '/b': ['urn:b'], '/new': ['urn:deep'] }
  const TAGS: Record<string, string> = { '/a': '"ea"', '/b': '"eb"', '/c': '"ec"' }

  function world(target: string): IfWorld {
    return {
      target,
      tagOf: path => TAGS[path],
      locksOn: async path => (TOKENS[path] ?? []).map(token => ({ token })),
      decode: uri => {
        if (uri.startsWith('/')) return uri
        if (uri.startsWith('http://own')) return uri.slice('http://own'.length)
        if (uri.startsWith('http://')) throw new Fault(502, 'BadGateway', 'elsewhere')
        return undefined
      },
    }
  }

  const judged: [header: string, target: string, holds: boolean][] = [
    ['(<urn:a>)', '/a', true],
    ['(<urn:deep>)', '/a', true],
    ['(<urn:b>)', '/a', false],
    ['(<urn:a> <urn:deep>)', '/a', true],
    ['(<urn:a> <urn:b>)', '/a', false],
    ['(<urn:b>) (<urn:a>)', '/a', true],
    ['(Not <urn:b>)', '/a', true],
    ['(Not <urn:a>)', '/a', false],
    ['(<DAV:no-lock>)', '/a', false],
    ['(<DAV:no-lock> ["ea"])', '/a', false],
    ['(<urn:wrong>) (Not <DAV:no-lock>)', '/a', true],
    ['(<urn:wrong> ["ea"]) (Not <DAV:no-lock> ["ea"])', '/a', true],
    ['(<urn:wrong> ["no"]) (Not <DAV:no-lock> ["no"])', '/a', false],
    ['(["ea"])', '/a', true],
    ['([W/"ea"])', '/a', false],
    ['(Not [W/"ea"])', '/a', true],
    ['(["no"])', '/a', false],
    ['(<urn:a> ["ea"])', '/a', true],
    ['(<urn:a> ["no"])', '/a', false],
    // An unmapped path has no tag, and the tokens whose scope covers it.
    ['(<urn:deep>)', '/new', true],
    ['(["ea"])', '/new', false],
    ['(Not ["ea"])', '/new', true],
    ['(<urn:deep>)', '/none', false],
    // Tagged lists are about another resource.
    ['</b> (<urn:b>)', '/a', true],
    ['</b> (<urn:a>)', '/a', false],
    ['<http://own/b> (<urn:b> ["eb"])', '/a', true],
    ['</c> (Not <urn:a>)', '/a', true],
    ['</c> (["ec"]) (<urn:a>)', '/a', true],
    ['</c> (<urn:a>)', '/a', false],
    ['(<urn:b>) </b> (<urn:b>)', '/a', true],
    // Another server's resource makes its lists false, whatever they say.
    ['<http://elsewhere/b> (<urn:b>)', '/a', false],
    ['<http://elsewhere/b> (Not <urn:b>)', '/a', false],
    ['<http://elsewhere/b> (Not <urn:b>) </b> (<urn:b>)', '/a', true],
    ['<outside:mount> (Not <urn:b>)', '/a', false],
  ]
  for (const [header, target, holds] of judged) {
    it(`DAV-89 on ${target}, ${header} ${holds ? 'holds' : 'fails'}`, async () => {
      expect(await evaluateIf(parseIf(header), world(target))).to.equal(holds)
    })
  }

  it('DAV-89 a tagged list whose URI could not be a request target refuses the request', async () => {
    const bad = {
      ...world('/a'),
      decode: () => {
        throw new Fault(400, 'InvalidPath', 'bad')
      },
    }
    const outcome = await evaluateIf(parseIf('</%zz> (<urn:a>)'), bad).catch((error: unknown) => error)
    expect(outcome).to.be.instanceOf(Fault).and.to.include({ status: 400 })
  })

  it('DAV-89 looks every resource up once, and only for what is asked', async () => {
    const asked: string[] = []
    const counting: IfWorld = {
      target: '/a',
      decode: uri => uri,
      tagOf: path => void asked.push(`tag ${path}`),
      locksOn: path => {
        asked.push(`locks ${path}`)
        return []
      },
    }
    const header = `${'(<urn:x>) '.repeat(50)}(Not <urn:x> ["e"]) </b> (["e"]) (["f"]) </a> (<urn:x>)`
    expect(await evaluateIf(parseIf(header), counting)).to.equal(false)
    expect(asked).to.deep.equal(['locks /a', 'tag /a', 'tag /b'])
  })

  const token = fc.constantFrom('urn:a', 'urn:b', 'urn:deep', 'DAV:no-lock')
  const tag = fc.constantFrom('ea', 'eb', 'no', '')
  const condition = fc.oneof(
    fc.record({ not: fc.boolean(), token }),
    fc.record({ not: fc.boolean(), tag, weak: fc.boolean() }),
  )
  const group = fc.record({
    uri: fc.option(fc.constantFrom('/a', '/b', '/new', 'http://own/a', 'http://elsewhere/a'), { nil: undefined }),
    lists: fc.array(fc.array(condition, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
  })

  it('DAV-89 evaluates as a plain reading of the rule does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(group, { minLength: 1, maxLength: 3 }),
        fc.constantFrom('/a', '/new'),
        async (groups, target) => {
          // Only the first group can be without a URI: the next would belong to the one before.
          const written = groups.map((each, i) => (i > 0 && each.uri === undefined ? { ...each, uri: '/b' } : each))
          const header = written
            .map(({ uri, lists }) => {
              const text = lists.map(
                list =>
                  `(${list.map(c => `${c.not ? 'Not ' : ''}${'token' in c ? `<${c.token}>` : `[${c.weak ? 'W/' : ''}"${c.tag}"]`}`).join(' ')})`,
              )
              return `${uri === undefined ? '' : `<${uri}> `}${text.join(' ')}`
            })
            .join(' ')
          let holds = false
          for (const { uri, lists } of written) {
            if (uri?.startsWith('http://elsewhere')) continue
            const path = uri?.replace('http://own', '') ?? target
            for (const list of lists) {
              let all = true
              for (const c of list) {
                const match =
                  'token' in c ? (TOKENS[path] ?? []).includes(c.token) : !c.weak && TAGS[path] === `"${c.tag}"`
                if (match === c.not) all = false
              }
              if (all) holds = true
            }
          }
          expect(await evaluateIf(parseIf(header), world(target)), header).to.equal(holds)
        },
      ),
      RUNS,
    )
  })

  it('DAV-89 any text is read or refused with 400, and nothing else', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '(',
        ')',
        '<',
        '>',
        '[',
        ']',
        '"',
        'Not',
        'not ',
        'W/',
        ' ',
        ',',
        '\t',
        '<urn:a>',
        '["e"]',
        '</a>',
      ),
      fc.string({ maxLength: 3 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), pieces => {
        expect(faultOf(() => parseIf(pieces.join('')))).to.match(/^(400 BadRequest$|no fault but )/)
      }),
      RUNS,
    )
  })

  it('DAV-89 hostile headers are read in linear time', () => {
    const size = 200_000
    const hostile = [
      '('.repeat(size),
      '<'.repeat(size),
      '(<'.repeat(size / 2),
      '</a>'.repeat(size / 4),
      `(${'Not '.repeat(size / 4)}`,
      `(${'<urn:a> '.repeat(size / 8)}`,
      '(<urn:a>)'.repeat(size / 9),
      `${'(["e"]) '.repeat(size / 8)}(`,
      `([${'"'.repeat(size)}`,
      `(["${']'.repeat(size)}`,
      ' ,'.repeat(size / 2),
      `(<urn:a>${' '.repeat(size)}`,
      '\t'.repeat(size),
    ]
    return takesLess(1_000, () => {
      for (const header of hostile) faultOf(() => parseIf(header))
    })
  })
})
