// biome-ignore-all lint/suspicious/noTemplateCurlyInString: programs are written so
/** Programs over pages of which their sender may not read many elements (SES-127): the rest is found in short turns. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { page, putAll, rulesPage } from '../support/content.ts'
import { client } from '../support/http.ts'
import { LONGEST_TURN, longestTurn } from '../support/loop-hold.ts'
import { startServer } from '../support/server.ts'

describe('pages with many hidden elements', () => {
  it('SEC-4 SES-127 a program over them has short turns, and sees the others in their order', async () => {
    const server = await startServer({ site: { defaultGet: 'deny' } })
    try {
      await putAll(server, {
        '/rules.html': rulesPage(['*', 'GET|QUERY', 'Allow', '/*'], ['*', 'GET', 'Deny', '/p.html', '.x']),
        '/p.html': page(`<ul>${Array.from({ length: 20_000 }, (_, i) => `<li class="x">h<li>${i}`).join('')}</ul>`),
      })
      const http = client(server.port)
      let text = ''
      const held = await longestTurn(async () => {
        const program = '[(${li}).count(), (${li:nth-child(20000)}).first().text()]'
        const answer = await http('QUERY', '/p.html', { 'Content-Type': 'text/sessel' }, program)
        text = answer.text
      })
      expect(JSON.parse(text)).to.deep.equal([20_000, '19999'])
      expect(held, 'milliseconds of work in one turn').to.be.below(LONGEST_TURN)
    } finally {
      await server.close()
    }
  })
})
