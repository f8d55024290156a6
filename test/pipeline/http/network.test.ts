import { expect } from 'chai'
import { describe, it } from 'mocha'
import { networkOf } from '../../../pipeline/http/network.ts'

describe('the network of an address', () => {
  const CASES: [address: string, network: string][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:0:1::1', '2001:db8:0:1'],
    ['2001:0DB8:0000:0001:ffff:2:3:4', '2001:db8:0:1'],
    ['2001:db8::1:ffff:2:3:4', '2001:db8:0:1'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['', ''],
    ['unknown', 'unknown'],
    ['x'.repeat(10_000), 'x'.repeat(45)],
  ]
  for (const [address, network] of CASES)
    it(`of ${address.slice(0, 50)} is ${network}`, () => expect(networkOf(address)).to.equal(network))
})
