/** Addresses of buckets as operators write them. */

/** Where objects are, and who asks. */
export interface ObjectAddress {
  bucket: string
  /** What the names of all objects begin with: empty, or with a slash at its end. */
  prefix: string
  /** URL of the service; that of AWS in the region by default. */
  endpoint?: string
  region: string
  /** The bucket stands in the path, not in the host. */
  pathStyle: boolean
  /** Access key; that of the file, or what the environment gives, by default. */
  key?: { id: string; secret: string }
  /** File with the id of an access key in its first line and the secret in its second; it is read again every minute. */
  credentialsFile?: string
  /** File with certificates of authorities to be believed, PEM; those of the system by default. */
  caFile?: string
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const PREFIX = /^(?:[A-Za-z0-9!_.*'()-]+\/)*$/
const REGION = /^[a-z0-9-]{1,64}$/

const PARAMETERS = ['endpoint', 'region', 'pathStyle', 'credentialsFile', 'caFile'] as const

/** The region that services without regions answer to. */
const ANY_REGION = 'us-east-1'

/**
 * Reads `s3://bucket/prefix?endpoint=https://s3.example.org&region=eu-1&credentialsFile=/run/secrets/s3`; an access key may
 * stand before the bucket (`s3://id:secret@bucket`).
 *
 * @returns undefined for a text that is none
 */
export function objectAddress(written: string): ObjectAddress | undefined {
  if (!written.startsWith('s3://') || !URL.canParse(written)) return undefined
  const url = new URL(written)
  const given = new Map(url.searchParams)
  if (url.hash !== '' || url.port !== '' || [...given.keys()].some(name => !PARAMETERS.some(each => each === name)))
    return undefined
  const endpoint = given.get('endpoint')
  if (endpoint !== undefined && !isService(endpoint)) return undefined
  const {
    region = ANY_REGION,
    pathStyle = String(endpoint !== undefined),
    credentialsFile,
    caFile,
  } = Object.fromEntries(given)
  const prefix = url.pathname.replace(/^\/+/, '').replace(/([^/])$/, '$1/')
  const key = keyOf(url)
  const isSound =
    BUCKET.test(url.hostname) && PREFIX.test(prefix) && REGION.test(region) && /^(true|false)$/.test(pathStyle)
  if (!isSound || key === 'half') return undefined
  return {
    bucket: url.hostname,
    prefix,
    region,
    pathStyle: pathStyle === 'true',
    ...(endpoint !== undefined && { endpoint }),
    ...(key !== undefined && { key }),
    ...(credentialsFile !== undefined && { credentialsFile }),
    ...(caFile !== undefined && { caFile }),
  }
}

function isService(written: string): boolean {
  if (!URL.canParse(written)) return false
  const { protocol, username, password, search, hash } = new URL(written)
  return /^https?:$/.test(protocol) && username + password + search + hash === ''
}

function keyOf({ username, password }: URL): ObjectAddress['key'] | 'half' {
  if (username === '' && password === '') return undefined
  try {
    const [id, secret] = [decodeURIComponent(username), decodeURIComponent(password)]
    return id === '' || secret === '' ? 'half' : { id, secret }
  } catch {
    return 'half'
  }
}

/** Where objects are, for people and to compare places: without what is secret, and whichever way leads there. */
export function placeOf({ bucket, prefix }: ObjectAddress): string {
  return `s3://${bucket}/${prefix}`
}
