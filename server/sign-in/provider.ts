/**
 * A site's identity provider (OIDC-2, OIDC-4, OIDC-7, OIDC-8): where people are sent to sign in, and who comes back. Its
 * configuration and keys are fetched when they are first needed and kept for an hour; nobody is sent to a provider that has
 * gone meanwhile (OIDC-9).
 */

import type * as OpenId from 'openid-client'
import type { OidcSettings } from '../../config/site-schema.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { asProviderError, oidc, ProviderError } from './provider-error.ts'

/** What a login is under way with; all of it secret, for one use. */
export interface Attempt {
  state: string
  nonce: string
  /** PKCE code verifier (RFC 7636). */
  verifier: string
}

/** Who came back. */
export interface Identity {
  /** Claims of the ID token and of the user info, as received. */
  claims: Record<string, unknown>
  idToken: string
}

/** Every call can fail with ProviderError. */
export interface Provider {
  /** Where to send the browser. */
  authorizationUrl(redirectUri: string, attempt: Attempt): Promise<URL>
  /**
   * Exchanges the code of a callback and validates what comes back.
   *
   * @param callback the redirect URI with the parameters that the provider appended
   */
  identify(callback: URL, attempt: Attempt): Promise<Identity>
  /** Where signing out continues; undefined when the provider offers nothing. */
  endSessionUrl(idToken: string | undefined, returnTo: string): Promise<URL | undefined>
}

/** Milliseconds that configuration and keys are kept. */
const KEPT = 3_600_000
/** The same after something was refused by them: a provider may put other keys in their place, under the same names or none. */
const DOUBTED = 60_000
/** Milliseconds that a provider which has answered is taken to be there. */
const PRESENT = 30_000
/** Seconds that the provider has for an answer. */
const PATIENCE = 10
/** Seconds by which clocks may differ. */
const SKEW = 60
/** Age in seconds that the library is told of known keys: at this age it uses them, and fetches again for an unknown one. */
const TOLD_AGE = 120

export function newAttempt(): Attempt {
  return { state: oidc().randomState(), nonce: oidc().randomNonce(), verifier: oidc().randomPKCECodeVerifier() }
}

/** @param clock milliseconds, by which configuration and keys age; whatever the clock of the system is set to, by default */
export function createProvider(settings: OidcSettings, clock = () => performance.now()): Provider {
  let server: { at: number; metadata: OpenId.ServerMetadata } | undefined
  let discovery: Promise<OpenId.ServerMetadata> | undefined
  let keys: { until: number; jwks: OpenId.JWKS } | undefined

  /** @param age milliseconds that what is known may be old */
  async function metadata(age: number): Promise<OpenId.ServerMetadata> {
    if (server && clock() - server.at < age) return server.metadata
    discovery ??= renew().finally(() => {
      // A failure is not kept: the next visitor asks again.
      discovery = undefined
    })
    return discovery
  }

  async function renew(): Promise<OpenId.ServerMetadata> {
    const at = clock()
    const metadata = await discover(settings)
    server = { at, metadata }
    return metadata
  }

  /** A configuration for one use, so that what fails on its way is known to belong to it. */
  async function configuration(network = { failed: false }, age = KEPT): Promise<OpenId.Configuration> {
    const { clientId } = complete(settings)
    const client = { [oidc().clockTolerance]: SKEW }
    const made = new (oidc().Configuration)(await metadata(age), clientId, client, authentication(settings))
    made.timeout = PATIENCE
    made[oidc().customFetch] = boundedFetch(() => (network.failed = true))
    if (isInsecure(settings)) oidc().allowInsecureRequests(made)
    // Also what comes straight from the provider is verified by its keys.
    oidc().enableNonRepudiationChecks(made)
    return made
  }

  /** Has tokens verified with the keys that are known, and learns those that had to be fetched. */
  async function withKeys<T>(configuration: OpenId.Configuration, work: () => Promise<T>): Promise<T> {
    const uat = Math.floor(Date.now() / 1000) - TOLD_AGE
    if (keys && keys.until > clock()) oidc().setJwksCache(configuration, { jwks: keys.jwks, uat })
    try {
      return await work()
    } catch (error) {
      if (keys) keys.until = Math.min(keys.until, clock() + DOUBTED)
      throw error
    } finally {
      const cache = oidc().getJwksCache(configuration)
      if (cache && cache.uat !== uat) keys = { until: clock() + KEPT, jwks: cache.jwks }
    }
  }

  return {
    async authorizationUrl(redirectUri, { state, nonce, verifier }) {
      const configured = await configuration(undefined, PRESENT)
      const parameters = {
        redirect_uri: redirectUri,
        scope: settings.scopes,
        state,
        nonce,
        code_challenge: await oidc().calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }
      return usable(() => oidc().buildAuthorizationUrl(configured, parameters))
    },
    async identify(callback, { state, nonce, verifier }) {
      const network = { failed: false }
      const configured = await configuration(network)
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true }
      try {
        const tokens = await withKeys(configured, () => oidc().authorizationCodeGrant(configured, callback, checks))
        const claims = tokens.claims()
        if (!claims?.sub || tokens.id_token === undefined)
          throw new ProviderError('invalid', 'There is no ID token that says who somebody is')
        if (claims.iat > Date.now() / 1000 + SKEW) throw new ProviderError('invalid', 'The ID token is from the future')
        const more = await userInfo(configured, tokens.access_token, claims.sub)
        return { claims: merged({ ...claims }, more), idToken: tokens.id_token }
      } catch (error) {
        throw asProviderError(error, network.failed)
      }
    },
    async endSessionUrl(idToken, returnTo) {
      const configured = await configuration()
      if (configured.serverMetadata().end_session_endpoint === undefined) return undefined
      const hint = idToken === undefined ? undefined : { id_token_hint: idToken }
      return usable(() => oidc().buildEndSessionUrl(configured, { ...hint, post_logout_redirect_uri: returnTo }))
    },
  }
}

async function discover(settings: OidcSettings): Promise<OpenId.ServerMetadata> {
  const { issuer, clientId } = complete(settings)
  try {
    const found = await oidc().discovery(new URL(issuer), clientId, undefined, oidc().None(), {
      timeout: PATIENCE,
      [oidc().customFetch]: boundedFetch(() => undefined),
      ...(isInsecure(settings) && { execute: [oidc().allowInsecureRequests] }),
    })
    return found.serverMetadata()
  } catch (cause) {
    throw new ProviderError('unreachable', 'The configuration of the identity provider cannot be had', { cause })
  }
}

/** @throws ProviderError when the operator left something out (OIDC-9) */
function complete({ issuer, clientId, clientSecret, tokenAuth }: OidcSettings): { issuer: string; clientId: string } {
  if (issuer === undefined) throw new ProviderError('unconfigured', 'The settings name no oidc.issuer')
  if (clientId === undefined) throw new ProviderError('unconfigured', 'The settings name no oidc.clientId')
  if (clientSecret === undefined && tokenAuth !== undefined && tokenAuth !== 'none')
    throw new ProviderError('unconfigured', `oidc.tokenAuth ${tokenAuth} needs an oidc.clientSecret`)
  return { issuer, clientId }
}

function authentication({ clientSecret, tokenAuth }: OidcSettings): OpenId.ClientAuth {
  if (clientSecret === undefined || tokenAuth === 'none') return oidc().None()
  return tokenAuth === 'client_secret_post'
    ? oidc().ClientSecretPost(clientSecret)
    : oidc().ClientSecretBasic(clientSecret)
}

/** An operator who names an issuer without TLS means it: a provider on the same machine or in a closed network. */
function isInsecure({ issuer }: OidcSettings): boolean {
  return issuer?.startsWith('http:') === true
}

/** Claims of the user info, which says more than the token at many providers; nothing when it cannot be had (OIDC-4). */
async function userInfo(
  configuration: OpenId.Configuration,
  accessToken: string,
  sub: string,
): Promise<Record<string, unknown>> {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return {}
  return oidc()
    .fetchUserInfo(configuration, accessToken, sub)
    .catch(() => ({}))
}

/** Whether an address is verified is said of the address beside it: neither source says it of that of the other one (ACT-2). */
function merged(token: Record<string, unknown>, info: Record<string, unknown>): Record<string, unknown> {
  const all = { ...token, ...info }
  const isOther = info.email !== undefined && token.email !== undefined && info.email !== token.email
  if (isOther && info.email_verified === undefined) delete all.email_verified
  if (info.email === undefined && token.email_verified !== undefined) all.email_verified = token.email_verified
  return all
}

/** @throws ProviderError when the provider's configuration lacks what is needed */
function usable(make: () => URL): URL {
  try {
    return make()
  } catch (cause) {
    throw new ProviderError('unreachable', 'The configuration of the identity provider is incomplete', { cause })
  }
}
