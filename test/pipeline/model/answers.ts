/** Error documents of refused writes, read as clients read them: by microdata. */

import { expect } from 'chai'
import { NS } from '../../support/content.ts'
import { readDom } from '../../support/dom.ts'
import type { Received } from '../../support/http.ts'

export interface Answer {
  status: number
  /** Name of the document's item type below the vocabulary. */
  type: string
  title: string
  description: string
  /** Properties of each violation, several values of one joined by a comma. */
  violations: Record<string, string>[]
}

/** Reads and checks the form of an error document of MOD-130 to MOD-132. */
export function answerOf(received: Received): Answer {
  const { status, headers, text } = received
  expect(status, text).to.be.within(400, 599)
  expect(headers['content-type']).to.equal('text/html; charset=utf-8')
  expect(headers).not.to.have.property('etag')
  const answer = readAnswer(text, status)
  if (text.includes('itemprop="detail"')) expectArticle(text, answer)
  else expect(text).to.match(/^<!DOCTYPE html>\n<html><head><title>/)
  return answer
}

/** MOD-134: the article of the mount around the document. */
function expectArticle(text: string, { status, type }: Answer): void {
  const article = readDom(text).querySelector(`article[itemtype="${NS}/Error"]`)
  const content = (name: string) => article?.querySelector(`:scope > [itemprop=${name}]`)?.getAttribute('content')
  expect(content('status')).to.equal(String(status))
  expect(content('kind')).to.equal(KINDS[status] ?? type)
  expect(article?.querySelector(':scope > [itemprop=message]')?.textContent).not.to.equal('')
}

/** Kinds that a status has whatever the document says. */
const KINDS: Readonly<Record<number, string>> = { 409: 'Conflict', 500: 'BindingFailure' }

export function readAnswer(markup: string, status: number): Answer {
  const document = readDom(markup)
  const item = document.querySelector(`[itemtype="${NS}/ConstraintViolation"], [itemtype="${NS}/SchemaViolation"]`)
  if (!item) throw new Error(`not an answer of validation: ${markup}`)
  const one = (name: string) => item.querySelector(`:scope > [itemprop=${name}]`)
  expect(one('statusCode')?.getAttribute('content')).to.equal(String(status))
  expect(one('name')?.textContent).to.equal(NAMES[status])
  const listed = [...item.querySelectorAll(`[itemtype="${NS}/Violation"]`)]
  for (const violation of listed) expect(violation.closest('[itemprop=violations]')).not.to.equal(null)
  return {
    status,
    type: item.getAttribute('itemtype')?.slice(NS.length + 1) ?? '',
    title: document.title,
    description: one('description')?.textContent ?? '',
    violations: listed.map(propertiesOf),
  }
}

const NAMES: Readonly<Record<number, string>> = {
  409: 'Conflict',
  422: 'Unprocessable Entity',
  500: 'Internal Server Error',
}

function propertiesOf(item: Element): Record<string, string> {
  const properties: Record<string, string> = {}
  for (const element of item.querySelectorAll(':scope > [itemprop]')) {
    const name = element.getAttribute('itemprop') ?? ''
    if (element.hasAttribute('itemscope')) {
      for (const [inner, value] of Object.entries(propertiesOf(element))) properties[`${name}.${inner}`] = value
    } else {
      const value = element.textContent ?? ''
      properties[name] = name in properties ? `${properties[name]}, ${value}` : value
    }
  }
  return properties
}

/** `422 cardinality height | type state`, or `206`. */
export function verdictOf(received: Received): string {
  if (received.status < 400) return String(received.status)
  const { status, violations } = answerOf(received)
  const told = violations.map(({ check, property, failedConstraint }) =>
    failedConstraint === undefined ? `${check}${property === undefined ? '' : ` ${property}`}` : failedConstraint,
  )
  return `${status} ${told.join(' | ')}`
}
