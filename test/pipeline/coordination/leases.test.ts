import { describe } from 'mocha'
import { localLeases } from '../../../pipeline/coordination/local/leases.ts'
import { leasesContract } from './leases-contract.ts'

describe('leases of a single process', () => {
  leasesContract(async options => ({ leases: localLeases(options), end: async () => undefined }))
})
