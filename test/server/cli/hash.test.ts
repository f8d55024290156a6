import { expect } from 'chai'
import { isStoredKey, keyDigest, verifyPassword } from '../../../config/passwords.ts'
import { type Situation, scriptorium } from './terminal.ts'

describe('command line: hash', () => {
  const GOOD: [what: string, situation: Situation, password: string][] = [
    ['the first line of a pipe', { input: ['secret\nrest\n'] }, 'secret'],
    ['a pipe without line end', { input: ['secret'] }, 'secret'],
    ['a line end of Windows', { input: ['secret\r\n'] }, 'secret'],
    ['spaces belong to the password', { input: [' a b \n'] }, ' a b '],
    ['characters cut in two', { input: [Buffer.from([0x47, 0xc3]), Buffer.from([0xa4, 0x0a])] }, 'Gä'],
    ['what is typed twice', { interactive: true, input: ['secret\r', 'secret\r'] }, 'secret'],
    ['what is typed, one key at a time', { interactive: true, input: [...'ab\rab\r'] }, 'ab'],
    ['corrections while typing', { interactive: true, input: ['xx\u0015abc\u007fd\r', 'abd\n'] }, 'abd'],
  ]
  for (const [what, situation, password] of GOOD) {
    it(`takes ${what}`, async () => {
      const { code, output, errors } = await scriptorium(['hash'], situation)
      expect(code).to.equal(0)
      expect(await verifyPassword(password, output.trimEnd())).to.equal(true)
      expect(errors).to.equal(situation.interactive ? 'Password: \nOnce more: \n' : '')
    })
  }

  const BAD: [what: string, situation: Situation, message: string][] = [
    ['nothing', { input: [''] }, 'The password is empty.\n'],
    ['an empty line', { input: ['\nx'] }, 'The password is empty.\n'],
    ['too much', { input: ['x'.repeat(1025)] }, 'The password is longer than 1024 characters.\n'],
    [
      'two that differ',
      { interactive: true, input: ['a\r', 'b\r'] },
      'Password: \nOnce more: \nThe two are not the same.\n',
    ],
    ['Ctrl-C', { interactive: true, input: ['a\u0003'] }, 'Password: \nStopped.\n'],
  ]
  for (const [what, situation, message] of BAD) {
    it(`refuses ${what}`, async () => {
      expect(await scriptorium(['hash'], situation)).to.deep.equal({ code: 1, output: '', errors: message })
    })
  }

  it('--key prints a key and what the settings keep of it', async () => {
    const { output } = await scriptorium(['hash', '--key'])
    const [key = '', stored = ''] = output
      .trim()
      .split('\n')
      .map(line => line.split(/ +/).at(-1))
    expect(isStoredKey(key)).to.equal(true)
    expect(stored).to.equal(`sha256$${keyDigest(key)}`)
  })
})
