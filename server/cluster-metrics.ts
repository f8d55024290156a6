/** Metrics of several processes as one: whoever is asked has the process that watches over all gather them. */

import cluster from 'node:cluster'
import type { Registry } from 'prom-client'
import { lazyPackage } from '../pipeline/lazy-package.ts'

/** Most servers are not asked for metrics. */
export const prometheus = lazyPackage<typeof import('prom-client')>('prom-client')

/** Milliseconds after which a process tells of itself alone. */
const PATIENCE = 6000

interface MetricsQuestion {
  metricsAsked: number
}

interface MetricsAnswer {
  metricsTold: number
  /** Undefined when they could not be gathered. */
  text?: string
}

function isQuestion(message: unknown): message is MetricsQuestion {
  return typeof message === 'object' && message !== null && 'metricsAsked' in message
}

function isAnswer(message: unknown): message is MetricsAnswer {
  return typeof message === 'object' && message !== null && 'metricsTold' in message
}

/** The part of the process that watches over the others. @returns stops it */
export function gatherMetrics(): () => void {
  const { AggregatorRegistry } = prometheus()
  const all = new AggregatorRegistry()
  const listener = (
    worker: { send: (answer: MetricsAnswer) => unknown; isConnected: () => boolean },
    message: unknown,
  ) => {
    if (!isQuestion(message)) return
    const tell = (answer: MetricsAnswer) => void (worker.isConnected() && worker.send(answer))
    all.clusterMetrics().then(
      text => tell({ metricsTold: message.metricsAsked, text }),
      () => tell({ metricsTold: message.metricsAsked }),
    )
  }
  cluster.on('message', listener)
  return () => cluster.off('message', listener)
}

/**
 * The part of a worker.
 *
 * @returns asks for the metrics of all, in the Prometheus text format
 */
export function askForMetrics(registry: Registry): () => Promise<string> {
  const { AggregatorRegistry } = prometheus()
  AggregatorRegistry.setRegistries([registry])
  // It answers what the other process asks of this one.
  new AggregatorRegistry()
  const waiting = new Map<number, (text: string | undefined) => void>()
  let asked = 0
  process.on('message', (message: unknown) => {
    if (isAnswer(message)) waiting.get(message.metricsTold)?.(message.text)
  })
  return async () => {
    const question: MetricsQuestion = { metricsAsked: ++asked }
    const text = await new Promise<string | undefined>(resolve => {
      const timer = setTimeout(() => resolve(undefined), PATIENCE).unref()
      waiting.set(question.metricsAsked, text => {
        clearTimeout(timer)
        resolve(text)
      })
      process.send?.(question)
    })
    waiting.delete(question.metricsAsked)
    return text ?? registry.metrics()
  }
}
