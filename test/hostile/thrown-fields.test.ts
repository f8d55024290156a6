/** Fields of answers that code throws or assigns (REA-53): none breaks the connection or takes over a session. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { isSafeField } from '../../pipeline/react/header-fields.ts'

describe('fields of answers that code gives', () => {
  const cases: [name: string, value: string, isSafe: boolean][] = [
    ['Set-Cookie', 'theme=dark; Path=/', true],
    ['Set-Cookie', 'sid=x', false],
    ['set-cookie', ' sid =x', false],
    ['SET-COOKIE', 'sid=', false],
    ['Set-Cookie', '=sid=x', false],
    ['Set-Cookie', ' = sid=x', false],
    ['Set-Cookie', 'sid', false],
    ['Set-Cookie', 'sidx=1', true],
    ['X-A', 'a\r\nSet-Cookie: sid=x', false],
    ['X-A', 'a\nb', false],
    ['X-A\r\nSet-Cookie', 'sid=x', false],
    ['X A', 'b', false],
    ['', 'b', false],
    ['X-A', 'a\0b', false],
    ['Content-Length', '3', false],
    ['content-length', '3', false],
    ['Transfer-Encoding', 'chunked', false],
    ['Connection', 'keep-alive', false],
    ['Trailer', 'X', false],
    ['Upgrade', 'websocket', false],
    ['X-A', 'plain', true],
  ]
  for (const [name, value, isSafe] of cases)
    it(`REA-53 ${JSON.stringify(`${name}: ${value}`)} ${isSafe ? 'is sent' : 'is dropped'}`, () =>
      expect(isSafeField([name, value], 'sid')).to.equal(isSafe))
})
