/** Counters for operators, in the Prometheus text format. */

import cluster from 'node:cluster'
import type { Metric, Registry } from 'prom-client'
import type { Counters } from '../pipeline/language/javascript/interface.ts'
import type { Memory } from '../pipeline/memory.ts'
import type { OutboundFigures } from '../pipeline/react/outbound/queue.ts'
import { askForMetrics, prometheus } from './cluster-metrics.ts'
import type { Refused } from './descriptors.ts'
import { Durations, FACES, type Face, RequestCounts } from './finished-requests.ts'
import { reached, type Services } from './health.ts'

export interface Metrics {
  /** Everything in the text format, with its media type; of all processes where there are several. */
  told(): Promise<{ type: string; text: string }>
  readonly requests: RequestCounts
  close(): void
}

/** What is told beside requests. */
interface Figures {
  services?: Services
  streams?: () => number
  outbound?: () => OutboundFigures
  scripts?: () => Counters
  refused?: () => Readonly<Refused>
  memory?: Memory
}

/** Requests are counted elsewhere, and handed to the registry when somebody looks: until then there is none. */
export function createMetrics(figures: Figures = {}): Metrics {
  const durations = { public: new Durations(), mount: new Durations() }
  const requests = new RequestCounts(durations)
  let made: { registry: Registry; text: () => Promise<string> } | undefined
  const make = () => {
    const registry = registryOf(figures, requests, durations)
    return { registry, text: cluster.isWorker ? askForMetrics(registry) : () => registry.metrics() }
  }
  // Of several processes any may be asked, and asks all others.
  if (cluster.isWorker) made = make()
  return {
    async told() {
      made ??= make()
      return { type: made.registry.contentType, text: await made.text() }
    },
    requests,
    close: () => made?.registry.clear(),
  }
}

function registryOf(options: Figures, requests: RequestCounts, durations: Readonly<Record<Face, Durations>>): Registry {
  const { Counter, collectDefaultMetrics, Gauge, Registry } = prometheus()
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'scriptorium_' })
  registry.registerMetric(durationMetric(durations))
  new Counter({
    name: 'scriptorium_requests_total',
    help: 'Answered requests',
    labelNames: ['face', 'method', 'outcome'],
    registers: [registry],
    collect() {
      this.reset()
      for (const face of FACES) {
        for (const [method, counts] of requests.answered[face])
          counts.forEach((count, hundred) => {
            if (count > 0) this.inc({ face, method, outcome: `${hundred}xx` }, count)
          })
      }
    },
  })
  if (options.services) {
    const { services } = options
    new Gauge({
      name: 'scriptorium_service_reachable',
      help: 'Whether each program that the server works with can be reached: 1, or 0 while it is away',
      labelNames: ['service'],
      aggregator: 'min',
      registers: [registry],
      collect() {
        for (const { name, isThere } of reached(services)) this.set({ service: name }, Number(isThere))
      },
    })
  }
  if (options.scripts) countScripts(registry, options.scripts)
  if (options.outbound) {
    const { outbound } = options
    new Gauge({
      name: 'scriptorium_outbound_requests',
      help: 'Outbound requests of reactions that wait or are under way',
      labelNames: ['state'],
      registers: [registry],
      collect() {
        const { waiting, inFlight } = outbound()
        this.set({ state: 'waiting' }, waiting)
        this.set({ state: 'sending' }, inFlight)
      },
    })
    new Counter({
      name: 'scriptorium_outbound_outcomes_total',
      help: 'Outbound requests of reactions by what became of their attempts',
      labelNames: ['outcome'],
      registers: [registry],
      collect() {
        const { delivered, retried, failed } = outbound()
        this.reset()
        this.inc({ outcome: 'delivered' }, delivered)
        this.inc({ outcome: 'retried' }, retried)
        this.inc({ outcome: 'failed' }, failed)
      },
    })
  }
  if (options.refused) {
    const { refused } = options
    new Counter({
      name: 'scriptorium_connections_refused_total',
      help: 'Connections that found no descriptor, by whether they were told so',
      labelNames: ['how'],
      registers: [registry],
      collect() {
        const { answered, closed } = refused()
        this.reset()
        this.inc({ how: 'answered' }, answered)
        this.inc({ how: 'closed' }, closed)
      },
    })
  }
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
  if (options.memory) {
    const { memory } = options
    new Gauge({
      name: 'scriptorium_memory_kept_bytes',
      help: 'Memory that each kind of what is kept takes',
      labelNames: ['of'],
      registers: [registry],
      collect() {
        for (const [of, bytes] of memory.taken()) this.set({ of }, bytes)
      },
    })
    new Gauge({
      name: 'scriptorium_memory_limit_bytes',
      help: 'Memory that all that is kept may take (limits.memory)',
      registers: [registry],
      collect() {
        this.set(memory.limit)
      },
    })
  }
  return registry
}

const DURATION = 'scriptorium_request_duration_seconds'

/** How long requests took, as a metric: that of the library takes longer to count a request than the log takes to tell it. */
function durationMetric(durations: Readonly<Record<Face, Durations>>): Metric {
  const told = {
    name: DURATION,
    help: 'Time from the request line to the end of the answer',
    type: 'histogram',
    aggregator: 'sum',
  }
  const metric = {
    ...told,
    get: () => Promise.resolve({ ...told, values: FACES.flatMap(face => durations[face].samples(DURATION, face)) }),
    reset: () => undefined,
  }
  return metric as unknown as Metric
}

/** Figures of the scripts of sites: totals, and what there is at the moment. */
function countScripts(registry: Registry, counters: () => Counters): void {
  const { Counter, Gauge } = prometheus()
  const totals: [keyof Counters, string, string, number][] = [
    ['evaluations', 'scriptorium_script_evaluations_total', 'Scripts that were run', 1],
    ['failures', 'scriptorium_script_failures_total', 'Scripts that failed', 1],
    ['time', 'scriptorium_script_seconds_total', 'Time that scripts have taken', 1_000],
    ['kills', 'scriptorium_script_kills_total', 'Script threads that had to be ended', 1],
  ]
  for (const [figure, name, help, unit] of totals)
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset()
        this.inc(counters()[figure] / unit)
      },
    })
  const gauges: [keyof Counters, string, string][] = [
    ['workers', 'scriptorium_script_threads', 'Threads that run scripts'],
    ['busy', 'scriptorium_script_threads_busy', 'Threads that are running a script'],
    ['queue', 'scriptorium_script_queue', 'Scripts that wait for a thread'],
  ]
  for (const [figure, name, help] of gauges)
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(counters()[figure])
      },
    })
}
