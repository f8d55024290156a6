/** The HTML parser, in steps: it can be left after every few tokens, and within long ones. */

import { Parser, type Token, type TreeAdapterTypeMap } from 'parse5'
import type { Steps } from './steps.ts'

/** UTF-16 code units that the parser is given at a time: one tag or comment can be as long as the document. */
const CHUNK = 32 * 1024

/** Tokens between two steps. A token of the worst kind costs as much as there are open elements. */
const TOKENS_PER_STEP = 64

export class SteppedParser<Nodes extends TreeAdapterTypeMap> extends Parser<Nodes> {
  #tokens = 0
  #waits = false

  /**
   * Reads a text.
   *
   * @param ends whether the document or fragment ends with it
   * @throws what the tree adapter throws
   */
  public *read(source: string, ends = true): Steps<void> {
    const { tokenizer } = this
    for (let at = 0; at === 0 || at < source.length; ) {
      // What it holds of an unfinished token is copied with each chunk, so the chunks grow with it.
      const end = at + Math.max(CHUNK, tokenizer.preprocessor.html.length >> 4)
      tokenizer.write(source.slice(at, end), ends && end >= source.length)
      for (; this.#waits; tokenizer.resume()) {
        yield
        this.#waits = false
      }
      yield
      at = end
    }
  }

  override onCharacter(token: Token.CharacterToken): void {
    super.onCharacter(token)
    this.#count()
  }

  override onComment(token: Token.CommentToken): void {
    super.onComment(token)
    this.#count()
  }

  override onStartTag(token: Token.TagToken): void {
    super.onStartTag(token)
    this.#count()
  }

  override onEndTag(token: Token.TagToken): void {
    super.onEndTag(token)
    this.#count()
  }

  #count(): void {
    if (++this.#tokens % TOKENS_PER_STEP !== 0) return
    this.#waits = true
    this.tokenizer.pause()
  }
}
