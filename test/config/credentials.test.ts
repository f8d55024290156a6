import { expect } from 'chai'
import fc from 'fast-check'
import { credentialCheck } from '../../config/credentials.ts'
import {
  createAccessKey,
  createPassword,
  equalTexts,
  hashPassword,
  isStoredKey,
  isStoredPassword,
  PasswordsBusy,
  verifyPassword,
} from '../../config/passwords.ts'
import type { Credential } from '../../config/site-schema.ts'
import { slowness } from '../support/cost.ts'

/** Cheap: these tests are about the form, not the cost. */
const COST = 16

/**
 * What something costs, in milliseconds of the processor with all threads of this process: other programs on the machine
 * do not count. The least of three times, so that neither does what the process does beside it.
 */
async function least(work: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < 3; i++) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

describe('passwords', () => {
  it('a hash has the documented form, another salt every time, and the cost of today', async () => {
    const [one, other] = await Promise.all([hashPassword('secret'), hashPassword('secret')])
    expect(one).to.match(/^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/)
    expect(one).to.not.equal(other)
    expect(await verifyPassword('secret', one)).to.equal(true)
  })

  it('a hash verifies its password and no other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), async (password, other) => {
        const stored = await hashPassword(password, COST)
        expect(isStoredPassword(stored)).to.equal(true)
        expect(await verifyPassword(password, stored)).to.equal(true)
        expect(await verifyPassword(other, stored)).to.equal(password.normalize('NFC') === other.normalize('NFC'))
      }),
      { seed: 2, numRuns: 40 },
    )
  })

  it('composed and decomposed spellings of a password are the same', async () => {
    expect(await verifyPassword('Ga\u0308rtner', await hashPassword('Gärtner', COST))).to.equal(true)
    expect(await verifyPassword('Ga\u0308rtner', 'Gärtner')).to.equal(true)
  })

  it('a hash made elsewhere is understood (RFC 7914 section 12)', async () => {
    const salt = Buffer.from('SodiumChloride').toString('base64url')
    const hash = Buffer.from(
      '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887',
      'hex',
    ).toString('base64url')
    expect(await verifyPassword('pleaseletmein', `scrypt$16384$8$1$${salt}$${hash}`)).to.equal(true)
    expect(await verifyPassword('pleaseletmeout', `scrypt$16384$8$1$${salt}$${hash}`)).to.equal(false)
  })

  const MALFORMED = [
    'scrypt$',
    'scrypt$16$8$1$aaaaaaaa',
    `scrypt$15$8$1$aaaaaaaa$${'a'.repeat(43)}`,
    `scrypt$0$8$1$aaaaaaaa$${'a'.repeat(43)}`,
    `scrypt$16$0$1$aaaaaaaa$${'a'.repeat(43)}`,
    `scrypt$16$8$17$aaaaaaaa$${'a'.repeat(43)}`,
    `scrypt$67108864$8$1$aaaaaaaa$${'a'.repeat(43)}`,
    `scrypt$16$8$1$aaaa$${'a'.repeat(43)}`,
    'scrypt$16$8$1$aaaaaaaa$aaaa',
    `scrypt$32768$8$3$${'a'.repeat(22)}$${'a'.repeat(42)}`,
    `scrypt$32768$8$3$${'a'.repeat(22)}$${'a'.repeat(22)}`,
    `scrypt$32768$8$3$${'a'.repeat(22)}`,
    'scrypt2768',
    'scrypt',
    'scrypt$16$8$1$a+a/aaaa$aaaa',
  ]
  for (const stored of MALFORMED) {
    it(`${stored.slice(0, 40)} is no hash, and nothing fits it`, async () => {
      expect(isStoredPassword(stored)).to.equal(false)
      expect(await verifyPassword(stored, stored)).to.equal(false)
    })
  }

  it('plain passwords are compared as a whole', async () => {
    expect(await verifyPassword('abc', 'abc')).to.equal(true)
    expect(await verifyPassword('abc', 'abcd')).to.equal(false)
    expect(await verifyPassword('', 'abc')).to.equal(false)
    expect(equalTexts('a', 'a')).to.equal(true)
    expect(equalTexts('a', '')).to.equal(false)
  })

  it('generated passwords are long, readable and different', () => {
    const all = new Set(Array.from({ length: 50 }, createPassword))
    expect(all.size).to.equal(50)
    for (const password of all) expect(password).to.match(/^([a-km-np-z2-9]{4}-){3}[a-km-np-z2-9]{4}$/)
  })

  it('access keys have 192 bits and are kept as SHA-256', () => {
    const { key, stored } = createAccessKey()
    expect(key).to.match(/^[\w-]{32}$/)
    expect(stored).to.match(/^sha256\$[0-9a-f]{64}$/)
    expect(isStoredKey(key)).to.equal(true)
    expect(isStoredKey(stored)).to.equal(true)
    expect(isStoredKey('sha256$ab')).to.equal(false)
    expect(isStoredKey('a'.repeat(21))).to.equal(false)
  })

  it('a flood of checks is refused, not queued without end, and ends', async () => {
    const stored = await hashPassword('x', 1024)
    const results = await Promise.allSettled(Array.from({ length: 200 }, () => verifyPassword('x', stored)))
    const refused = results.filter(result => result.status === 'rejected')
    expect(refused.length).to.equal(200 - 66)
    for (const { reason } of refused) expect(reason).to.be.instanceOf(PasswordsBusy)
    expect(await verifyPassword('x', stored)).to.equal(true)
  })
})

describe('credentials', () => {
  const credential = (given: Partial<Credential>): Credential => ({ user: 'u', scope: ['/*'], write: true, ...given })
  const access = createAccessKey()

  async function checked() {
    const credentials = [
      credential({ user: 'editor', password: await hashPassword('editor:1', COST) }),
      credential({ user: 'plain', password: 'plain-1' }),
      credential({ user: 'Jürgen', password: 'p', write: false }),
      credential({ user: 'ci', key: access.stored }),
      credential({ user: 'bot', key: 'a-plain-key-of-the-bot-1', password: 'bot-1' }),
    ]
    return credentialCheck(credentials)
  }

  const BASIC: [user: string, password: string, found: string | undefined][] = [
    ['editor', 'editor:1', 'editor'],
    ['editor', 'editor:2', undefined],
    ['editor', '', undefined],
    ['Editor', 'editor:1', undefined],
    ['plain', 'plain-1', 'plain'],
    ['plain', 'editor:1', undefined],
    ['Ju\u0308rgen', 'p', 'Jürgen'],
    ['nobody', 'plain-1', undefined],
    ['', '', undefined],
    ['ci', '', undefined],
    ['ci', 'undefined', undefined],
    ['ci', access.key, 'ci'],
    ['ci', access.stored, undefined],
    ['plain', access.key, undefined],
    ['bot', 'a-plain-key-of-the-bot-1', 'bot'],
    ['bot', 'bot-1', 'bot'],
    ['__proto__', 'x', undefined],
  ]
  for (const [user, password, found] of BASIC) {
    it(`MNT-1 Basic ${user}:${password.slice(0, 12)} opens ${found ?? 'nothing'}`, async () => {
      expect((await (await checked()).basic(user, password))?.user).to.equal(found)
    })
  }

  const BEARER: [token: string, found: string | undefined][] = [
    [access.key, 'ci'],
    [access.stored, undefined],
    ['a-plain-key-of-the-bot-1', 'bot'],
    ['editor:1', 'editor'],
    ['plain-1', 'plain'],
    ['bot-1', 'bot'],
    ['wrong', undefined],
    ['', undefined],
  ]
  for (const [token, found] of BEARER) {
    it(`DAV-3 Bearer ${token.slice(0, 12)} opens ${found ?? 'nothing'}`, async () => {
      expect((await (await checked()).bearer(token))?.user).to.equal(found)
    })
  }

  it('MNT-1 nobody has the password of another one, be it the only one that there is', async () => {
    for (const password of ['right', await hashPassword('right', COST)]) {
      const check = credentialCheck([
        credential({ user: 'ada', password }),
        credential({ user: 'ci', key: access.stored }),
      ])
      for (const user of ['ci', 'nobody', '']) expect(await check.basic(user, 'right'), user).to.equal(undefined)
      expect((await check.basic('ada', 'right'))?.user).to.equal('ada')
    }
  })

  it('MNT-4 without credentials nothing opens', async () => {
    const check = credentialCheck([])
    expect(await check.basic('editor', 'x')).to.equal(undefined)
    expect(await check.bearer('x')).to.equal(undefined)
  })

  it('DAV-3 SEC-12 wrong tokens are compared one after another, and who sends a user name does not wait for them', async () => {
    const passwords = await Promise.all(Array.from({ length: 20 }, (_, i) => hashPassword(`secret ${i}`, COST)))
    const check = credentialCheck(passwords.map((password, i) => credential({ user: `u${i}`, password })))
    const done: string[] = []
    const tokens = Array.from({ length: 12 }, (_, i) =>
      check.bearer(`wrong ${i}`).then(
        () => done.push('token'),
        error => done.push(error instanceof PasswordsBusy ? 'busy' : 'failed'),
      ),
    )
    await check.basic('u3', 'secret 3').then(() => done.push('name'))
    await Promise.all(tokens)
    expect(done.filter(each => each === 'busy').length).to.equal(4)
    expect(done.filter(each => each !== 'busy').slice(0, 2)).to.include('name')
  })

  it('DAV-3 SEC-12 tokens of one site do not wait for those of another one, nor are there too many of them', async () => {
    const common = [credential({ user: 'hashed', password: await hashPassword('right', COST) })]
    const many = credentialCheck(common)
    const done: string[] = []
    const wrong = Array.from({ length: 8 }, (_, i) => many.bearer(`wrong ${i}`).then(() => done.push('token')))
    const other = credentialCheck([credential({ user: 'plain', password: 'plain-1' })])
    const none = credentialCheck([])
    expect((await other.bearer('plain-1'))?.user).to.equal('plain')
    expect(await none.bearer('wrong')).to.equal(undefined)
    // Hosts of one entry of the settings are no more of them.
    const busy = await credentialCheck(common)
      .bearer('wrong')
      .catch(error => error)
    expect(busy).to.be.instanceOf(PasswordsBusy)
    expect(done).to.deep.equal([])
    await Promise.all(wrong)
  })

  it('MNT-1 names cost the same whether they exist, have a plain password, or only a key', async () => {
    const check = credentialCheck([
      credential({ user: 'hashed', password: await hashPassword('right', 4096) }),
      credential({ user: 'plain', password: 'right' }),
      credential({ user: 'ci', key: access.stored }),
    ])
    const wrong = (user: string) => least(async () => expect(await check.basic(user, 'wrong')).to.equal(undefined))
    const hashed = await wrong('hashed')
    for (const user of ['plain', 'ci', 'nobody']) expect(await wrong(user), user).to.be.within(hashed / 5, hashed * 5)
  })

  it('MNT-1 names cost the same where all passwords are plain, however long the one is that is tried', async () => {
    const users = [credential({ user: 'plain', password: 'right' }), credential({ user: 'ci', key: access.stored })]
    const check = credentialCheck(users)
    const long = 'wrong'.repeat(4000)
    const wrong = (user: string) =>
      least(async () => {
        for (let index = 0; index < 300; index++) expect(await check.basic(user, long)).to.equal(undefined)
      })
    const plain = await wrong('plain')
    for (const user of ['ci', 'nobody']) expect(await wrong(user), user).to.be.within(plain / 2, plain * 2)
  })

  it('MNT-1 names that do not exist cost what some that do cost, where costs differ, and always the same', async () => {
    const check = credentialCheck([
      credential({ user: 'old', password: await hashPassword('right', 16) }),
      credential({ user: 'new', password: await hashPassword('right', 2048) }),
    ])
    const isDear = async (user: string, than: number) => (await least(() => check.basic(user, 'wrong'))) > than
    const [cheap, dear] = [await least(() => check.basic('old', 'x')), await least(() => check.basic('new', 'x'))]
    const names = Array.from({ length: 24 }, (_, index) => `nobody-${index}`)
    const found: boolean[] = []
    for (const name of names) found.push(await isDear(name, (cheap + dear) / 2))
    expect(new Set(found), 'the chance of one cost for all is one to eight millions').to.deep.equal(
      new Set([true, false]),
    )
    for (const [index, name] of names.entries()) expect(await isDear(name, (cheap + dear) / 2)).to.equal(found[index])
  })

  it('MNT-1 without any hash nothing is slow', async () => {
    const check = credentialCheck([credential({ user: 'plain', password: 'right' })])
    const cost = await least(async () => {
      for (let index = 0; index < 100; index++) expect(await check.basic('nobody', 'wrong')).to.equal(undefined)
    })
    expect(cost).to.be.below(500 * slowness())
  })

  it('an access key needs no slow hash', async () => {
    const check = await checked()
    const cost = await least(async () => {
      for (let index = 0; index < 200; index++) await check.bearer(access.key)
    })
    expect(cost).to.be.below(500 * slowness())
  })
})
