/** Functional pseudo-classes that are added to the selector language by name. */
import type { ElementNode, TreeDocument } from '../nodes.ts'
import type { Steps } from '../steps.ts'

/** What a test of an extension may use of the query it runs in. */
export interface ExtensionContext {
  readonly document: TreeDocument
  /**
   * Counts work that depends on the size of the document: call it with about one unit per node looked at, or per 256
   * characters of text read.
   *
   * @throws SelectorError when the query has become too costly
   */
  spend(units: number): void
  /**
   * Something that follows from the document alone, computed at most once in a query.
   *
   * @param key stands for it
   */
  shared<T>(key: symbol, make: () => T): T
  /**
   * The same for what takes long to make. Where the query is done in steps, the test is left and made again when it is
   * there.
   */
  prepared<T>(key: symbol | ElementNode, make: () => Steps<T>): T
  /**
   * Does something that leaves its result with the query. Where it is long and the query is done in steps, the test is left
   * and made again when it is done.
   *
   * @param length nodes or characters that it goes through
   */
  make(work: Steps<void>, length: number): void
}

/** Whether an element is matched by one use of an extension. */
export type ExtensionTest = (element: ElementNode, context: ExtensionContext) => boolean

/** A functional pseudo-class `:name(argument)` beyond those of CSS. */
export interface Extension {
  /**
   * Called once per use, when the selector is compiled.
   *
   * @param argument the text between the parentheses as written; `tokenize` reads it by the rules of CSS
   * @returns the test
   * @throws SelectorError when the argument is not one, which makes the selector invalid
   */
  compile(argument: string): ExtensionTest
}

/** Extensions by name, lower-case, without colon. They cannot replace what CSS defines. */
export type Extensions = ReadonlyMap<string, Extension>
