/** How folders of what is stored are kept from others: denied documents and secrets are for this user alone, also where the folder above is open. */

export const OWN_FOLDER = 0o700
export const OWN_FILE = 0o600

/** Name of the file that is locked by whoever has a folder; nobody opens it for anything else, as that would end the lock. */
export const LOCK = 'in-use.lock'
