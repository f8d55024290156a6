import { expect } from 'chai'
import { describe, it } from 'mocha'
import { loadSettings } from '../../config/load.ts'
import { secretsOf } from '../../config/redact.ts'
import { objectAddress, placeOf } from '../../pipeline/store/objects/address.ts'

const aws = { bucket: 'bucket', prefix: '', region: 'us-east-1', pathStyle: false }

describe('where large files are kept', () => {
  for (const [name, written, expected] of [
    ['of a bucket alone', 's3://bucket', aws],
    ['with a region', 's3://bucket/?region=eu-central-1', { ...aws, region: 'eu-central-1' }],
    ['with a prefix', 's3://bucket/sites/www', { ...aws, prefix: 'sites/www/' }],
    ['with a prefix that has its slash', 's3://bucket/sites/www/', { ...aws, prefix: 'sites/www/' }],
    [
      'of another service, whose buckets stand in the path',
      's3://bucket?endpoint=https://s3.example.org:9000',
      { ...aws, endpoint: 'https://s3.example.org:9000', pathStyle: true },
    ],
    [
      'of another service, whose buckets are hosts',
      's3://bucket?endpoint=https%3A%2F%2Fs3.example.org%2Fapi&pathStyle=false',
      { ...aws, endpoint: 'https://s3.example.org/api' },
    ],
    ['with a key', 's3://AK%2FID:s%2F%2Bt@bucket', { ...aws, key: { id: 'AK/ID', secret: 's/+t' } }],
    [
      'with files',
      's3://bucket?credentialsFile=/run/secrets/s3&caFile=/etc/ssl/own.pem',
      { ...aws, credentialsFile: '/run/secrets/s3', caFile: '/etc/ssl/own.pem' },
    ],
    ['with half a key', 's3://id@bucket', undefined],
    ['with a key that is not encoded', 's3://id:%ZZ@bucket', undefined],
    ['with a parameter that nobody knows', 's3://bucket?keyFile=/x', undefined],
    ['of no service', 's3://bucket?endpoint=s3.example.org', undefined],
    ['of a service with a key', 's3://bucket?endpoint=https://a:b@s3.example.org', undefined],
    ['with a port', 's3://bucket:9000/x', undefined],
    ['of no bucket', 's3:///prefix', undefined],
    ['of a name that no bucket has', 's3://Bucket_1', undefined],
    ['with a prefix that needs escapes', 's3://bucket/a%20b', undefined],
    ['with a prefix that has an empty part', 's3://bucket/a//b', undefined],
    ['with neither path nor host', 's3://bucket?pathStyle=maybe', undefined],
    ['of something else', 'https://s3.example.org/bucket', undefined],
    ['that is none', 'bucket', undefined],
  ] as const) {
    it(`an address ${name}`, () => {
      expect(objectAddress(written)).to.deep.equal(expected)
    })
  }

  it('is told without what is secret', () => {
    const address = objectAddress('s3://id:secret@bucket/a?endpoint=https://s3.example.org')
    expect(address && placeOf(address)).to.equal('s3://bucket/a/')
  })

  it('its secret is kept out of the log in both spellings', async () => {
    const env = { SCRIPTORIUM_POSTGRES: 'postgres://db/site', SCRIPTORIUM_BLOBS: 's3://id:se%2Fcret@bucket' }
    const { settings } = await loadSettings({ env })
    expect(secretsOf(settings)).to.have.members(['se%2Fcret', 'se/cret'])
  })
})
