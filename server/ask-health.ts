/** Asks the server that the settings describe, on this machine, how it is: for whatever watches over its process. */

import { request as secure } from 'node:https'
import { request as plain } from '../pipeline/http/node-http.ts'
import type { Commands } from './cli/commands.ts'

/** Milliseconds to wait for an answer. */
const PATIENCE = 3000

export const askHealth: Commands['askHealth'] = ({ listen, tls, defaults }, { ready }) =>
  new Promise(resolve => {
    const anywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }
    const asking = (tls ? secure : plain)(
      {
        host: anywhere[listen.host] ?? listen.host,
        port: listen.port,
        path: `/-${defaults.brand}/health/${ready ? 'ready' : 'live'}`,
        timeout: PATIENCE,
        // Who answers at this address of this machine is known without a name.
        rejectUnauthorized: false,
      },
      answer => {
        let text = ''
        answer.setEncoding('utf8').on('data', piece => {
          text += piece
        })
        answer.on('end', () => resolve({ ok: answer.statusCode === 200, said: text }))
      },
    )
    asking.on('timeout', () => asking.destroy(new Error('no answer in time')))
    asking.on('error', error => resolve({ ok: false, said: error.message }))
    asking.end()
  })
