/** What random documents are made of. */

export const WILD =
  'p li dd option optgroup select table tbody tr td template a b button form h1 svg math title rt ruby pre div'.split(
    ' ',
  )

export const VOID = new Set('base link meta br hr img input keygen frame col'.split(' '))

export const TEXT = [
  'word',
  'two words',
  ' ',
  '\n',
  '\r\n',
  '\n  ',
  '\r',
  '&amp;',
  '&lt;',
  '&nbsp;',
  '&copy',
  '&am',
  'p;',
  'amp;',
  '&',
  '&#x1F600;',
  '😀',
  'é',
  ']]',
  '>',
  '\t',
  '\0',
  '"',
  "'",
  '&#13;',
  '<',
  '< ',
  '\n\n',
  '\ufeff',
  'a&not',
  'in;',
]

export const ATTRIBUTES = [
  '',
  '',
  '',
  ' class=a',
  ' class="a b"',
  ' ID="x" id=y',
  " title='a>b'",
  ' data-a="&quot;&amp;"',
  ' hidden',
  ' a=/',
  ' x="\r\n"',
  ' href=a?b&c',
  ' 😀=1',
]

export const PHRASING = 'span b i a em code small u button label abbr font nobr tt strong'.split(' ')

export const BLOCK =
  'div section p h1 h2 ul ol dl table pre blockquote form fieldset details center address article'.split(' ')

export const ANY =
  'html head body title base link meta style script noscript template div p span b i a em u font nobr button h1 h2 ul ol li dl dt dd table caption colgroup col tbody thead tfoot tr td th form input select option optgroup textarea pre listing br hr img svg g path foreignObject desc title math mi mo annotation-xml iframe noembed noframes object applet marquee ruby rb rt rp rtc frameset frame xmp plaintext image keygen details summary main'.split(
    ' ',
  )

export const XML_TEXT = [
  'word',
  ' ',
  '\n',
  '\r\n',
  '\r',
  '&amp;',
  '&lt;',
  '&#13;',
  '&#x1F600;',
  '😀',
  ']',
  ']]',
  '&gt;',
  '"',
  "'",
  '<![CDATA[a<b&]]>',
  '<![CDATA[]]>',
  '<![CDATA[]]]]>',
  '\t',
  '\u00a0',
]

export const XML_ATTRIBUTES = [
  '',
  '',
  '',
  ' a="1"',
  " b='&lt;\n'",
  ' p:a="x"',
  ' xml:lang="en"',
  ' xmlns="urn:d"',
  ' xmlns:p="urn:other"',
  ' xmlns=""',
  ' xmlns:q="urn:q"',
]
