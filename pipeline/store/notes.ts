/** A small value beside the documents that is kept for a time, such as what a visitor's session holds. */
export interface Note {
  /** Not empty; any characters but NUL. */
  key: string
  value: string
  /** Unix milliseconds from which on the note is gone. */
  expires: number
}

export type NoteChange =
  /** Replaces what was kept under the key. */
  | { op: 'keep'; note: Note }
  /** One note; none is fine, too. */
  | { op: 'drop'; key: string }
  /** Every note whose key begins with the text. */
  | { op: 'drop-all'; prefix: string }
  /** Every note whose key begins with the text has another one in its place, under which none has been kept. */
  | { op: 'move-all'; prefix: string; to: string }

export interface NoteStore {
  note(key: string): Promise<Note | undefined>
  /** Notes whose keys begin with a text that is not empty, ascending by key. */
  notes(prefix: string): Promise<Note[]>
  /**
   * Keys that begin with a text that is not empty and come after another one, ascending; values may be large.
   *
   * @param after empty for the first ones
   * @param most how many at most
   */
  noteKeys(prefix: string, after: string, most: number): Promise<string[]>
  /** Carries out all changes in order, or none; durable when it settles. @throws StoreError */
  changeNotes(changes: readonly NoteChange[]): Promise<void>
}
