/** Counters for operators, in the Prometheus text format. */

import cluster from 'node:cluster'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { askForMetrics } from './gathered-metrics.ts'

export interface Metrics {
  readonly registry: Registry
  /** Everything in the text format; of all processes where there are several. */
  text(): Promise<string>
  request(face: 'public' | 'mount', method: string, status: number, seconds: number): void
  close(): void
}

const METHODS = new Set([
  'GET',
  'HEAD',
  'PUT',
  'POST',
  'DELETE',
  'MOVE',
  'COPY',
  'PATCH',
  'OPTIONS',
  'QUERY',
  'PROPFIND',
  'PROPPATCH',
  'MKCOL',
  'LOCK',
  'UNLOCK',
  'REPORT',
])

interface Series {
  count: number
  face: string
  method: string
  outcome: string
}

/**
 * Requests are counted in plain objects and handed to the registry when somebody looks: labels cost more than the
 * counting itself.
 */
export function createMetrics(options: { streams?: () => number } = {}): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'scriptorium_' })
  const series = new Map<string, Series>()
  const durations = new Histogram({
    name: 'scriptorium_request_duration_seconds',
    help: 'Time from the request line to the end of the answer',
    labelNames: ['face'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
    registers: [registry],
  })
  new Counter({
    name: 'scriptorium_requests_total',
    help: 'Answered requests',
    labelNames: ['face', 'method', 'outcome'],
    registers: [registry],
    collect() {
      this.reset()
      for (const s of series.values()) this.inc({ face: s.face, method: s.method, outcome: s.outcome }, s.count)
    },
  })
  if (options.streams) {
    const { streams } = options
    new Gauge({
      name: 'scriptorium_event_streams',
      help: 'Open event streams',
      registers: [registry],
      collect() {
        this.set(streams())
      },
    })
  }
  return {
    registry,
    text: cluster.isWorker ? askForMetrics(registry) : () => registry.metrics(),
    request(face, method, status, seconds) {
      const known = METHODS.has(method) ? method : 'other'
      const outcome = `${Math.floor(status / 100)}xx`
      const key = face + known + outcome
      const found = series.get(key)
      if (found) found.count++
      else series.set(key, { count: 1, face, method: known, outcome })
      durations.observe({ face }, seconds)
    },
    close() {
      registry.clear()
    },
  }
}
