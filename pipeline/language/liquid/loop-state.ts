/** Where a loop of a template is. */

import { LazyDictionary } from '../values.ts'

/** The values of `forloop` and `tablerowloop`, made when they are asked for. */
export class LoopState extends LazyDictionary {
  index = 0
  readonly #length: number
  readonly #parent: LoopState | undefined
  readonly #columns: number | undefined

  constructor(length: number, parent?: LoopState, columns?: number) {
    super()
    this.#length = length
    this.#parent = parent
    this.#columns = columns
  }

  override get(key: string) {
    const columns = this.#columns
    switch (key) {
      case 'index':
        return BigInt(this.index + 1)
      case 'index0':
        return BigInt(this.index)
      case 'rindex':
        return BigInt(this.#length - this.index)
      case 'rindex0':
        return BigInt(this.#length - this.index - 1)
      case 'first':
        return this.index === 0
      case 'last':
        return this.index === this.#length - 1
      case 'length':
        return BigInt(this.#length)
      case 'parentloop':
        return this.#parent
      default:
    }
    if (columns === undefined) return undefined
    const column = this.index % columns
    switch (key) {
      case 'row':
        return BigInt(Math.floor(this.index / columns) + 1)
      case 'col':
        return BigInt(column + 1)
      case 'col0':
        return BigInt(column)
      case 'col_first':
        return column === 0
      case 'col_last':
        return column === columns - 1
      default:
        return undefined
    }
  }

  override keys(): string[] {
    const keys = ['index', 'index0', 'rindex', 'rindex0', 'first', 'last', 'length']
    if (this.#columns !== undefined) keys.push('row', 'col', 'col0', 'col_first', 'col_last')
    return keys
  }
}
