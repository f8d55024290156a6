import { describe } from 'mocha'
import { describeSnapshots } from '../contract/snapshots.ts'
import { describeStaging } from '../contract/staging.ts'
import { openWithObjects } from './fixture.ts'

/** What the contract says of bytes that are kept apart. Everything else of the store is the same code. */
describe('store contract: PostgreSQL with blobs in objects', () => {
  describe('snapshots', () => describeSnapshots(openWithObjects))
  describe('staging', () => describeStaging(openWithObjects))
})
