import type { Open } from '../fixture.ts'
import { describeChanges } from './changes.ts'
import { describeConcurrency } from './concurrency.ts'
import { describeDerivations } from './derivations.ts'
import { describeEntries } from './entries.ts'
import { describeEvents } from './events.ts'
import { inTurn } from './in-turn.ts'
import { describeNotes } from './notes.ts'
import { describeReading } from './reading.ts'
import { describeSnapshots } from './snapshots.ts'
import { describeSplices } from './splices.ts'
import { describeStaging } from './staging.ts'
import { describeSums } from './sums.ts'
import { describeTogether } from './together.ts'
import { describeTransfers } from './transfers.ts'
import { describeTreeEvents } from './tree-events.ts'

/** The contract of `pipeline/store/store.ts` as tests, for every implementation. */
export function describeStore(name: string, open: Open): void {
  describe(`store contract: ${name}`, () => {
    describe('changes', () => describeChanges(inTurn(open)))
    describe('moves and copies', () => describeTransfers(inTurn(open)))
    describe('two parts of the store', () => describeTogether(inTurn(open)))
    describe('reading', () => describeReading(inTurn(open)))
    describe('derivations', () => describeDerivations(open))
    describe('entries', () => describeEntries(inTurn(open)))
    describe('events', () => describeEvents(open))
    describe('events of trees', () => describeTreeEvents(open))
    describe('concurrency', () => describeConcurrency(inTurn(open)))
    describe('sums of collections', () => describeSums(inTurn(open)))
    describe('snapshots', () => describeSnapshots(open))
    describe('bodies changed in places', () => describeSplices(inTurn(open)))
    describe('notes', () => describeNotes(open))
    describe('staging', () => describeStaging(open))
  })
}
