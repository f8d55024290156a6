/** A real identity provider on loopback. Its one page asks for a name and believes it. */

import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import Provider, { type ClientMetadata, type Configuration } from 'oidc-provider'
import { freePort } from '../../support/ports.ts'
import { newMemory } from './oidc-memory.ts'

export interface OidcServer {
  issuer: string
  /** Paths of all requests that came, in order. */
  requests: string[]
  /** Takes the options as they are now, and signs with a new key from now on; the old one is withdrawn. */
  configure(): void
  /** Ends it; later requests find nobody there. */
  stop(): Promise<void>
  /** Listens again at the same address. */
  start(): Promise<void>
}

export interface OidcServerOptions {
  client?: Partial<ClientMetadata>
  /** Claims by the name that somebody signs in with, which is their `sub` as well. */
  accounts?: Record<string, Record<string, unknown>>
  /** Redirect URIs of the site; can be set later, too. */
  redirectUris: string[]
  postLogoutRedirectUris?: string[]
}

export const CLIENT = { clientId: 'site', clientSecret: 'a secret of the tests, long enough for anybody' }

/** Who can sign in unless a test says otherwise. */
export const ACCOUNTS: Record<string, Record<string, unknown>> = {
  alice: {
    email: 'alice@example.com',
    email_verified: true,
    name: 'Alice Example',
    picture: 'https://example.com/alice.png',
    roles: ['editors', 'writers'],
  },
  bob: { email: 'bob@example.com', email_verified: false, name: 'Bob', roles: 'readers  proofreaders' },
  carol: { name: 'Carol' },
}

function newKeys(kid: string): NonNullable<Configuration['jwks']> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { keys: [{ ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' }] } as NonNullable<
    Configuration['jwks']
  >
}

export async function startOidcServer(options: OidcServerOptions): Promise<OidcServer> {
  const { accounts = ACCOUNTS } = options
  let handler: RequestListener = (_request, response) => void response.writeHead(503).end()
  const requests: string[] = []
  const answer: RequestListener = (request, response) => {
    requests.push((request.url ?? '').split('?', 1)[0] ?? '')
    handler(request, response)
  }
  // One that is still free when it listens again.
  const port = await freePort()
  let server = createServer(answer).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${port}`
  let generation = 0
  const adapter = newMemory()

  function configure(): void {
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: CLIENT.clientId,
          client_secret: CLIENT.clientSecret,
          redirect_uris: options.redirectUris,
          post_logout_redirect_uris: options.postLogoutRedirectUris ?? [],
          ...options.client,
        },
      ],
      adapter,
      cookies: { keys: ['a key of the tests'] },
      jwks: newKeys(`key-${++generation}`),
      claims: {
        openid: ['sub'],
        email: ['email', 'email_verified'],
        profile: ['name', 'picture', 'roles'],
      },
      findAccount: (_context, sub) =>
        Object.hasOwn(accounts, sub) ? { accountId: sub, claims: () => ({ sub, ...accounts[sub] }) } : undefined,
      interactions: { url: (_context, { uid }) => `/name/${uid}` },
      // Nobody is asked whether the site may know what it asks for.
      async loadExistingGrant(context) {
        const { client, session } = context.oidc
        const grant = new context.oidc.provider.Grant({
          ...(client && { clientId: client.clientId }),
          ...(session?.accountId !== undefined && { accountId: session.accountId }),
        })
        grant.addOIDCScope('openid email profile')
        await grant.save()
        return grant
      },
      features: {
        devInteractions: { enabled: false },
        rpInitiatedLogout: { enabled: true, logoutSource: (context, form) => void (context.body = form) },
      },
      ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
    })
    const protocol = provider.callback()
    handler = (request, response) =>
      request.url?.startsWith('/name/') ? void askName(provider, request, response) : void protocol(request, response)
  }
  configure()

  return {
    issuer,
    requests,
    configure,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
    async start() {
      server = createServer(answer).listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
  }
}

/** The page on which people say who they are; the button beside it cancels. */
async function askName(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' })
    response.end(
      `<!DOCTYPE html><title>Identity provider</title><h1>Who are you?</h1><form method="post" action="${request.url}">` +
        '<input name="login" autofocus> <button>Sign in</button> <button name="cancel" value="1">Cancel</button></form>',
    )
    return
  }
  const form = new URLSearchParams(await text(request))
  const result = form.has('cancel')
    ? { error: 'access_denied', error_description: 'The visitor <cancelled>' }
    : { login: { accountId: form.get('login') ?? '' } }
  await provider.interactionFinished(request, response, result)
}
