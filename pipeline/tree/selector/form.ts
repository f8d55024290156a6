/** States of form controls as markup alone gives them (HTML, “Form control infrastructure”, “Pseudo-classes”). */
import { asciiLower, trimmed } from '../ascii.ts'
import { attribute, type ElementNode, isText, parentElement } from '../nodes.ts'
import { NODES_PER_STEP, type Steps } from '../steps.ts'
import { inherited } from './inherited.ts'
import { isHtml } from './name.ts'
import type { Query } from './query.ts'
import { walking } from './relation.ts'
import { placeOf } from './sibling.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))
const DATES = 'date datetime-local month time week'
const TEXTS = 'email password search tel text url'
const TYPES = words(`${TEXTS} ${DATES} button checkbox color file hidden image number radio range reset submit`)
const WITH_REQUIRED = words(`${TEXTS} ${DATES} number checkbox radio file`)
const WITH_READONLY = words(`${TEXTS} ${DATES} number`)
const WITH_PLACEHOLDER = words(`${TEXTS} number`)
const BUTTONS = words('button image reset submit')

/** Values that an input keeps; any other value is dropped by its type. */
const VALUES: Record<string, RegExp> = {
  number: /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/,
  date: /^\d{4,}-\d\d-\d\d$/,
  month: /^\d{4,}-\d\d$/,
  week: /^\d{4,}-W\d\d$/,
  time: /^\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?$/,
  'datetime-local': /^\d{4,}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?$/,
}

function has(element: ElementNode, name: string): boolean {
  return attribute(element, name) !== undefined
}

function typeOf(input: ElementNode): string {
  const type = asciiLower(attribute(input, 'type') ?? '')
  return TYPES.has(type) ? type : 'text'
}

function isCheckable(element: ElementNode): boolean {
  return isHtml(element, 'input') && /^(checkbox|radio)$/.test(typeOf(element))
}

export function canBeDisabled(element: ElementNode): boolean {
  return isHtml(element, 'button', 'fieldset', 'input', 'optgroup', 'option', 'select', 'textarea')
}

export function isDisabled(element: ElementNode, query: Query): boolean {
  if (!canBeDisabled(element)) return false
  if (has(element, 'disabled')) return true
  if (element.tagName === 'optgroup') return false
  if (element.tagName !== 'option') return inherited(IN_DISABLED_FIELDSET, element, query, inDisabledFieldset) ?? false
  for (
    let at = parentElement(element);
    at && !isHtml(at, 'datalist', 'hr', 'option', 'select');
    at = parentElement(at)
  ) {
    query.spend(1)
    if (isHtml(at, 'optgroup')) return has(at, 'disabled')
  }
  return false
}

const IN_DISABLED_FIELDSET = Symbol('inside of a disabled fieldset')

/** A disabled fieldset disables what is in it, except in its first legend. */
function inDisabledFieldset(element: ElementNode, query: Query): true | undefined {
  const parent = parentElement(element)
  if (!parent || !isHtml(parent, 'fieldset') || !has(parent, 'disabled')) return undefined
  const isFirstLegend = isHtml(element, 'legend') && placeOf(element, false, true, query) === 1
  return isFirstLegend ? undefined : true
}

/** Whether a value is required or optional; undefined for what has no such state. */
export function isRequired(element: ElementNode): boolean | undefined {
  if (isHtml(element, 'input') ? WITH_REQUIRED.has(typeOf(element)) : isHtml(element, 'select', 'textarea')) {
    return has(element, 'required')
  }
  return undefined
}

/** An input of a type that knows `readonly`, or a text area. */
export function isEditable(element: ElementNode): boolean {
  return isHtml(element, 'textarea') || (isHtml(element, 'input') && WITH_READONLY.has(typeOf(element)))
}

export function showsPlaceholder(element: ElementNode): boolean {
  if (isHtml(element, 'input') ? !WITH_PLACEHOLDER.has(typeOf(element)) : !isHtml(element, 'textarea')) return false
  return has(element, 'placeholder') && isWithoutValue(element)
}

export function isBlank(element: ElementNode, query: Query): boolean {
  if (isHtml(element, 'select')) return selectedOptions(element, query).size === 0
  if (isCheckable(element)) return isChecked(element, query) === false
  if (isHtml(element, 'input')) return !BUTTONS.has(typeOf(element)) && isWithoutValue(element)
  return isHtml(element, 'textarea') && isWithoutValue(element)
}

function isWithoutValue(control: ElementNode): boolean {
  if (control.tagName === 'textarea') return !control.childNodes.some(child => isText(child) && child.value !== '')
  const type = typeOf(control)
  if (type === 'color' || type === 'range') return false
  if (type === 'file') return true
  const value = (attribute(control, 'value') ?? '').replace(/[\r\n]+/g, '')
  if (type === 'email' || type === 'url') return trimmed(value) === ''
  const kept = VALUES[type]
  return value === '' || (kept !== undefined && !kept.test(value))
}

/** Whether a box or option is on; undefined for what has no such state. */
export function isChecked(element: ElementNode, query: Query): boolean | undefined {
  if (isHtml(element, 'option')) return isSelected(element, query)
  if (!isCheckable(element)) return undefined
  if (!has(element, 'checked')) return false
  const name = typeOf(element) === 'radio' ? attribute(element, 'name') : undefined
  // Of a group of radio buttons the last that says so is on.
  const on = name ? formsOf(query).radios.get(formOwner(element, query))?.get(name) : undefined
  return on === undefined || on === element
}

export function isIndeterminate(element: ElementNode, query: Query): boolean {
  if (isHtml(element, 'progress')) return !has(element, 'value')
  if (!isHtml(element, 'input') || typeOf(element) !== 'radio') return false
  if (has(element, 'checked')) return false
  const name = attribute(element, 'name')
  return !name || !formsOf(query).radios.get(formOwner(element, query))?.has(name)
}

export function isDefault(element: ElementNode, query: Query): boolean {
  if (isCheckable(element)) return has(element, 'checked')
  if (isHtml(element, 'option')) return has(element, 'selected')
  if (!isSubmit(element)) return false
  const owner = formOwner(element, query)
  return owner !== undefined && formsOf(query).submits.get(owner) === element
}

function isSubmit(element: ElementNode): boolean {
  if (isHtml(element, 'button')) return !/^(button|reset)$/.test(asciiLower(attribute(element, 'type') ?? ''))
  return isHtml(element, 'input') && /^(image|submit)$/.test(typeOf(element))
}

function isSelected(option: ElementNode, query: Query): boolean {
  let select = parentElement(option)
  while (select && !isHtml(select, 'select', 'option', 'datalist')) {
    query.spend(1)
    select = parentElement(select)
  }
  return select?.tagName === 'select' ? selectedOptions(select, query).has(option) : has(option, 'selected')
}

const SELECTED = Symbol('selected options by select')

function selectedOptions(select: ElementNode, query: Query): Set<ElementNode> {
  const known = query.once(SELECTED, () => new Map<ElementNode, Set<ElementNode>>())
  if (!known.has(select)) query.make(selecting(select, known, query), select.childNodes.length)
  return known.get(select) ?? new Set()
}

/** HTML, “selectedness setting algorithm”: a drop-down list shows one option, the last that asks for it or else the first. */
function* selecting(select: ElementNode, known: Map<ElementNode, Set<ElementNode>>, query: Query): Steps<void> {
  const options: ElementNode[] = []
  for (const element of walking(select, query)) {
    if (!element) yield
    else if (isHtml(element, 'option')) options.push(element)
  }
  const asking = options.filter(option => has(option, 'selected'))
  const size = /^[ \t\n\f\r]*\+?(\d+)/.exec(attribute(select, 'size') ?? '')
  if (has(select, 'multiple')) known.set(select, new Set(asking))
  else if (asking.length > 0) known.set(select, new Set(asking.slice(-1)))
  else if (size && Number(size[1]) !== 1) known.set(select, new Set())
  else {
    const first = options.find(option => !isDisabled(option, query))
    known.set(select, new Set(first ? [first] : []))
  }
}

/** What controls of one form have in common; `undefined` as form stands for those without one. */
interface Forms {
  ids: Map<string, ElementNode>
  /** By form and name: the radio button that is on. */
  radios: Map<ElementNode | undefined, Map<string, ElementNode>>
  /** By form: its first submit button. */
  submits: Map<ElementNode | undefined, ElementNode>
}

const FORMS = Symbol('forms')

function formsOf(query: Query): Forms {
  return query.prepared(FORMS, () => readingForms(query))
}

function* readingForms(query: Query): Steps<Forms> {
  const forms: Forms = { ids: new Map(), radios: new Map(), submits: new Map() }
  const controls: ElementNode[] = []
  for (const element of walking(query.document.root, query)) {
    if (!element) {
      yield
      continue
    }
    const id = attribute(element, 'id')
    if (id && !forms.ids.has(id)) forms.ids.set(id, element)
    if (isHtml(element, 'input', 'button')) controls.push(element)
  }
  for (const [at, control] of controls.entries()) {
    if (at % NODES_PER_STEP === NODES_PER_STEP - 1) yield
    const owner = ownerIn(forms.ids, control, query)
    if (isSubmit(control) && !forms.submits.has(owner)) forms.submits.set(owner, control)
    const name = attribute(control, 'name')
    if (!name || !has(control, 'checked') || control.tagName !== 'input' || typeOf(control) !== 'radio') continue
    const group = forms.radios.get(owner) ?? new Map<string, ElementNode>()
    forms.radios.set(owner, group.set(name, control))
  }
  return forms
}

const FORM_AROUND = Symbol('form around')

function formOwner(control: ElementNode, query: Query): ElementNode | undefined {
  return ownerIn(has(control, 'form') ? formsOf(query).ids : NO_IDS, control, query)
}

const NO_IDS: Forms['ids'] = new Map()

function ownerIn(ids: Forms['ids'], control: ElementNode, query: Query): ElementNode | undefined {
  const id = attribute(control, 'form')
  if (id !== undefined) {
    const owner = ids.get(id)
    return owner && isHtml(owner, 'form') ? owner : undefined
  }
  return inherited(FORM_AROUND, control, query, element => (isHtml(element, 'form') ? element : undefined))
}
