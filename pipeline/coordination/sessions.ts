/**
 * Sessions that hold something (SSN-4 to SSN-7): a sign-in, and named values such as logins under way or content of the
 * visitor's own. The contract that every keeper fulfils.
 *
 * A session is known by site and id; an id that nobody has heard of holds nothing. Sites are kept apart. Names of values
 * and ids are made by the server: letters, digits and `-_./:`.
 */

/** A sign-in that succeeded. */
export interface SignIn {
  /** All identity claims as received (OIDC-5). */
  claims: Record<string, unknown>
  /** Entries of the roles claim at that time (GRP-6). */
  roles: string[]
  /** Unix milliseconds. */
  at: number
  /** The provider that said so, as the settings named it; earlier releases did not note it. */
  issuer?: string
  /** Kept where it is needed to sign out at the provider, too (OIDC-7). */
  idToken?: string
}

/** A session in which somebody is signed in. */
export interface SignedIn {
  signIn: SignIn
  /** Unix milliseconds at which it ends unless it is prolonged. */
  expires: number
}

/** Something that a session holds under a name. */
export interface SessionValue {
  name: string
  value: string
  /** Unix milliseconds; independent of the session's own time. */
  expires: number
}

/** A session that ends, and the unix milliseconds until which its cookie would look valid. */
export interface Ending {
  id: string
  until: number
}

/** Why sessions could not be read or changed. */
export class SessionError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SessionError'
  }
}

/** Every call that returns a promise can fail with SessionError. What a call changed survives the end of the process. */
export interface Sessions {
  /** Who is signed in; undefined when nobody is, or the time of the session is over. */
  find(site: string, id: string): Promise<SignedIn | undefined>
  /** Moves the end of a signed-in session; others are left alone. */
  prolong(site: string, id: string, expires: number): Promise<void>
  /**
   * Starts a session for a sign-in, in one step (SSN-6): the session it follows has ended from then on, and what that one
   * held is held by the new one.
   *
   * @param id new, never used before
   * @returns false, with nothing changed, when the session to be followed has ended already
   */
  signIn(site: string, id: string, session: SignedIn, follows: Ending): Promise<boolean>
  /** Ends a session with everything it holds. */
  end(site: string, ending: Ending): Promise<void>
  /**
   * Whether a session was ended or followed by another one, without asking anybody: the process that did it knows at once,
   * others within a second.
   */
  hasEnded(site: string, id: string): boolean
  /**
   * Whether somebody is still signed in by a session, whatever process may have ended it: asked where that is not known here.
   */
  isSignedIn(site: string, id: string): boolean | Promise<boolean>
  /** A value, unless its time is over. */
  value(site: string, id: string, name: string): Promise<string | undefined>
  /** Values whose names begin with a text that is not empty, ascending by name. */
  values(site: string, id: string, prefix: string): Promise<SessionValue[]>
  /** @returns false, with nothing kept, when the session has ended */
  keep(site: string, id: string, value: SessionValue): Promise<boolean>
  /** Takes a value away; of several who try at the same time only one gets it. */
  take(site: string, id: string, name: string): Promise<string | undefined>
  /**
   * Has a function told of every session that is ended or followed by another one, by whatever process.
   *
   * @returns stops it
   */
  onEnd(listener: (site: string, id: string) => void): () => void
  /** Calls that come later fail. */
  close(): Promise<void>
}
