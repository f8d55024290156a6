/** Visitors with a session of their own, as a sign-in leaves it. */

import type { TestServer } from './server.ts'

/** What a provider says of somebody; nothing but the user name is needed. */
export interface Claims {
  sub: string
  email?: string
  email_verified?: boolean
}

/**
 * Opens a session.
 *
 * @param claims of whoever signs in; nobody does without
 * @returns the value of the field `Cookie` by which requests come from there
 */
export async function openSession(
  server: TestServer | undefined,
  claims?: Claims,
  roles: readonly string[] = [],
): Promise<string> {
  const hosted = await server?.running.hosting.open('localhost')
  if (!hosted) throw new Error('The server has no site.')
  const opened = await hosted.siteSessions.open(undefined)
  const session = claims
    ? await hosted.siteSessions.signIn(opened, { claims: { ...claims }, roles: [...roles], at: Date.now() })
    : opened
  if (!session) throw new Error('Nobody could be signed in.')
  return `platform_session=${session.issue}`
}

/** The fields of requests by somebody with an address that their provider has verified. */
export async function withEmail(server: TestServer, email: string, ...roles: string[]): Promise<{ Cookie: string }> {
  return { Cookie: await openSession(server, { sub: 'u', email, email_verified: true }, roles) }
}
