import { EventEmitter } from 'node:events'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { answerWatchdog, watch } from '../../server/watchdog.ts'

/** A worker by its messages alone. */
class Process extends EventEmitter {
  readonly signals: unknown[] = []
  readonly questions: unknown[] = []
  readonly process = { pid: 1, kill: (signal: unknown) => this.signals.push(signal) > 0 }
  send(question: unknown): boolean {
    return this.questions.push(question) > 0
  }
}

function watched() {
  const worker = new Process()
  let ask: (() => void) | undefined
  watch(worker, { error: () => undefined }, asks => {
    ask = asks
    return () => (ask = undefined)
  })
  return { worker, pass: () => ask?.(), isWatched: () => ask !== undefined }
}

/** What this process would answer to a question of its watchdog. */
function answerTo(question: unknown): unknown {
  const told: unknown[] = []
  const { send } = process
  const before = process.listeners('message')
  process.send = (message: unknown) => told.push(message) > 0
  try {
    answerWatchdog()
    for (const listener of process.listeners('message')) if (!before.includes(listener)) listener(question, undefined)
  } finally {
    for (const listener of process.listeners('message'))
      if (!before.includes(listener)) process.off('message', listener)
    process.send = send
  }
  return told[0]
}

describe('the watchdog of workers', () => {
  it('ends one that leaves six questions without an answer, once', () => {
    const { worker, pass } = watched()
    for (let i = 0; i < 6; i++) pass()
    expect(worker.signals).to.deep.equal([])
    for (let i = 0; i < 6; i++) pass()
    expect(worker.signals).to.deep.equal(['SIGKILL'])
    expect(worker.questions).to.have.length(6)
  })

  it('leaves one that answers now and then, whatever else it says', () => {
    const { worker, pass } = watched()
    for (let i = 0; i < 60; i++) {
      pass()
      if (i % 6 === 5) worker.emit('message', answerTo(worker.questions[i]))
    }
    expect(worker.signals).to.deep.equal([])
    for (const other of [undefined, null, 'yes', { ready: {} }, { hasTurns: 'no' }]) worker.emit('message', other)
    for (let i = 0; i < 7; i++) pass()
    expect(worker.signals).to.deep.equal(['SIGKILL'])
  })

  it('asks nobody who has gone', () => {
    const { worker, isWatched } = watched()
    worker.emit('exit')
    expect(isWatched()).to.equal(false)
  })

  it('a worker answers its questions alone', () => {
    expect(answerTo({ metricsAsked: 1 })).to.equal(undefined)
    expect(answerTo({ hasTurns: 'yes' })).to.equal(undefined)
  })
})
