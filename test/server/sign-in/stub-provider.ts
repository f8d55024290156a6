/** An identity provider that lies as a test tells it to: its tokens are made by hand. */

import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface SigningKey {
  kid: string
  alg: 'RS256' | 'ES256' | 'EdDSA'
  privateKey: KeyObject
  publicKey: KeyObject
}

export interface Lies {
  /** Instead of the claims of an honest ID token; undefined leaves one out. */
  claims?: Record<string, unknown>
  /** Instead of the header of an honest token. */
  header?: Record<string, unknown>
  /** The whole token, made from the honest claims. */
  token?: (claims: Record<string, unknown>) => string
  /** Key that signs; the published one by default. */
  key?: SigningKey
  /** Keys that are published. */
  published?: SigningKey[]
  /** What the user info says; undefined for none. */
  userInfo?: Record<string, unknown>
  metadata?: Record<string, unknown>
  /** Answers of single paths. */
  answers?: Record<string, (request: IncomingMessage, response: ServerResponse) => void>
}

export interface StubProvider {
  issuer: string
  /** Changes what it says from now on. */
  lies: Lies
  /** Method and path of every request. */
  requests: string[]
  /** Body of the last token request, and its Authorization field. */
  tokenRequest: { form: URLSearchParams; authorization: string | undefined }
  key: SigningKey
  /** The redirect that an honest provider answers an authorization request with. */
  callback(authorization: URL): URL
  stop(): Promise<void>
}

export function newKey(kid: string, alg: SigningKey['alg'] = 'RS256'): SigningKey {
  const pair =
    alg === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : alg === 'ES256'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : generateKeyPairSync('ed25519')
  return { kid, alg, ...pair }
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A signed token (RFC 7515). */
export function jwt(header: Record<string, unknown>, claims: Record<string, unknown>, { alg, privateKey }: SigningKey) {
  const input = `${encode(header)}.${encode(claims)}`
  const key = alg === 'ES256' ? { key: privateKey, dsaEncoding: 'ieee-p1363' as const } : privateKey
  const signature = sign(alg === 'EdDSA' ? null : 'sha256', Buffer.from(input), key)
  return `${input}.${signature.toString('base64url')}`
}

/** A token signed with a shared secret. */
export function hmacJwt(claims: Record<string, unknown>, secret: string | Buffer): string {
  const input = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}

/** A token without signature. */
export function unsignedJwt(claims: Record<string, unknown>): string {
  return `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims)}.`
}

export async function startStubProvider(): Promise<StubProvider> {
  const key = newKey('first')
  const nonces = new Map<string, string>()
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const stub: StubProvider = {
    issuer,
    key,
    lies: {},
    requests: [],
    tokenRequest: { form: new URLSearchParams(), authorization: undefined },
    callback(authorization) {
      const { searchParams } = authorization
      const code = `code-${nonces.size}`
      nonces.set(code, searchParams.get('nonce') ?? '')
      const back = new URL(searchParams.get('redirect_uri') ?? '')
      back.search = new URLSearchParams({ code, state: searchParams.get('state') ?? '' }).toString()
      return back
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ''] = (request.url ?? '').split('?', 1)
    stub.requests.push(`${request.method} ${path}`)
    const { lies } = stub
    const own = lies.answers?.[path]
    if (own) return own(request, response)
    if (path === '/.well-known/openid-configuration')
      return json(response, {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        userinfo_endpoint: `${issuer}/me`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256', 'ES256', 'EdDSA', 'HS256', 'none'],
        ...lies.metadata,
      })
    if (path === '/jwks') return json(response, { keys: (lies.published ?? [key]).map(publicJwk) })
    if (path === '/me') {
      if (lies.userInfo) return json(response, lies.userInfo)
      return void response.writeHead(401).end()
    }
    if (path === '/token') return tokens(request, response)
    response.writeHead(404).end()
  }

  async function tokens(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request))
    stub.tokenRequest = { form, authorization: request.headers.authorization }
    const { lies } = stub
    const now = Math.floor(Date.now() / 1000)
    const honest = {
      iss: issuer,
      sub: 'u-1',
      aud: 'site',
      exp: now + 300,
      iat: now,
      nonce: nonces.get(form.get('code') ?? ''),
    }
    const claims = { ...honest, ...lies.claims }
    const signing = lies.key ?? key
    const header = { alg: signing.alg, kid: signing.kid, typ: 'JWT', ...lies.header }
    const idToken = lies.token?.(claims) ?? jwt(header, claims, signing)
    json(response, { access_token: 'at', token_type: 'Bearer', expires_in: 60, id_token: idToken })
  }

  return stub
}

function publicJwk({ publicKey, kid, alg }: SigningKey): object {
  return { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' }
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value))
}
