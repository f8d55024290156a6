/** Conformance of the mount beside other servers: litmus, and what shipped clients need to be answered. */

import { type Conformance, judge } from '../../support/conformance.ts'
import { SUITES, type Suite } from '../../support/litmus.ts'
import type { Row } from '../support/table.ts'
import { starters } from './servers.ts'

const SUITE_NAMES = Object.keys(SUITES) as Suite[]

export const CONFORMANCE_HEAD: Row = [
  'Server',
  ...SUITE_NAMES.map(suite => `${suite} (${SUITES[suite]})`),
  'client tasks done',
  'requests answered as needed',
]

/** One row for each server. */
export async function benchConformance(say: (line: string) => void): Promise<Row[]> {
  const rows: Row[] = []
  for (const { name, start } of starters(say)) {
    const server = await start()
    if (!server) continue
    try {
      const { url, accounts } = server
      const [first, secondUser] = accounts
      // The public surface is left out: others have none, and everybody is asked the same.
      const verdict = await judge({ url, ...first, secondUser })
      rows.push(rowOf(name, verdict))
      say(rows.at(-1)?.join('  ') ?? '')
      if (process.env.BENCH_DETAILS) for (const line of complaints(verdict)) say(`    ${line}`)
    } finally {
      await server.stop()
    }
  }
  return rows
}

function rowOf(name: string, { litmus, replays }: Conformance): Row {
  const steps = replays.flatMap(({ played }) => played)
  const done = replays.filter(({ played }) => played.every(({ problems }) => problems.length === 0)).length
  return [
    name,
    ...SUITE_NAMES.map(suite => String(litmus[suite].passed)),
    `${done} of ${replays.length}`,
    `${steps.filter(({ problems }) => problems.length === 0).length} of ${steps.length}`,
  ]
}

function complaints({ replays }: Conformance): string[] {
  return replays.flatMap(({ title, played }) =>
    played.flatMap(({ request, problems }) =>
      problems.map(problem => `${title}: ${request}: ${problem.slice(0, 120)}`),
    ),
  )
}
