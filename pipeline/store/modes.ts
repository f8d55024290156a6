/** Modes of what is stored: denied documents and secrets are for this user alone, also where the folder above is open. */

export const OWN_FOLDER = 0o700
export const OWN_FILE = 0o600
