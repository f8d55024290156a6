/** Why the dialect differs from liquidjs as it comes. The first entry that concerns a difference gives its reason. */

export interface Reason {
  concerns: (template: string, stock: string, ours: string) => boolean
  reason: string
}

/** By what stands in the template. */
function of(pattern: RegExp, reason: string): Reason {
  return { concerns: template => pattern.test(template), reason }
}

export const REASONS: readonly Reason[] = [
  of(
    /in list \| sort/,
    'LIQ-24: a filter behind the collection of a loop would be ignored without a word; it is an error.',
  ),
  of(/\| nosuch/, 'LIQ-63: an unknown filter is an error that stays local, not a filter that does nothing.'),
  of(/\{\{ a b \}\}/, 'LIQ-64: two values without operator are a malformed expression.'),
  of(/\| (random|diceware|date_add|unix_to_iso)/, 'LIQ-44, LIQ-47: liquidjs has no such filter.'),
  of(/parentloop/, 'LIQ-24: liquidjs has no `parentloop`.'),
  of(/\.length/, 'LIQ-18: only own data is reachable; the size of a text is `size`.'),
  of(/capture/, 'LIQ-34: what was printed into a capture is escaped already.'),
  of(/newline_to_br/, 'LIQ-34: the line break is markup, its surroundings are escaped.'),
  of(/escape_once/, 'LIQ-7, LIQ-32: references in spans are decoded first, and the result is not escaped again.'),
  of(
    /\| escape \}\}|\| escape \|/,
    'LIQ-32: `escape` gives safe text, which is not escaped a second time; LIQ-19 for hashes and ranges.',
  ),
  of(/nil == blank/, 'LIQ-20: nil is blank.'),
  of(/(if|case) (digits|"true")/, 'LIQ-29: values of items are texts; numeric texts compare as numbers with numbers.'),
  of(/where: "ok", true/, 'LIQ-39: `true` matches the text `true`.'),
  of(/(where|reject)_exp/, 'LIQ-43: the truth of a predicate decides, not whether it is `true`.'),
  of(/where: "size"/, 'LIQ-39: only items and hashes have fields.'),
  of(/compact: "age"|uniq: "team"/, 'Section 11: `compact` and `uniq` take a field.'),
  of(/\| json|\| jsonify|\| inspect/, 'LIQ-31, LIQ-48: quotes are `&quot;`; nil is `null`; a Float keeps its point.'),
  of(/divided_by: 0|modulo: 0/, 'Section 10: by zero the input stays.'),
  of(/divided_by/, 'LIQ-14: Integers are divided as Integers, downwards.'),
  of(/to_integer/, 'Section 10: `to_integer` truncates; what is no number is 0.'),
  of(/yes \| (plus|times|modulo|abs|ceil|round)/, 'LIQ-37: a boolean is 0 for filters of numbers.'),
  of(/times: 2\.0|plus: 5\.0|plus: 1\.5|\{\{ 1\.0 \}\}/, 'LIQ-14, LIQ-19: a Float stays a Float and shows its point.'),
  of(/split: ","/, 'Section 10 and 11: empty fields are kept; numeric texts are sorted by number.'),
  of(/url_decode/, 'Section 10: a malformed escape stays as written.'),
  of(/normalize_whitespace/, 'Section 10: the ends are trimmed.'),
  of(/replace: ""/, 'Section 10: an empty text is found nowhere.'),
  of(/\| date/, 'LIQ-44: ISO form by default, `UTC` as the zone, an error for what is no date.'),
  of(/h \| size/, 'LIQ-18: the size of a hash is the number of its keys.'),
  of(/\| (first|last)/, 'LIQ-37: any other value is an array of one element.'),
  of(/\{\{ h|\(1\.\.3\)/, 'LIQ-19: a hash prints as JSON, a range as its bounds.'),
]
