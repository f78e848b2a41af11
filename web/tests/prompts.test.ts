import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { folded, isPlain, promptOf, titleOf } from '../src/prompts/folding'
import { coloured } from '../src/prompts/highlight'
import { attachedOf, LARGEST_IMAGE } from '../src/prompts/images'
import { Markdown } from '../src/prompts/Markdown'

function html(prompt: string): string {
  return renderToStaticMarkup(createElement(Markdown, { ...attachedOf(prompt), level: 3 }))
}

const PNG = 'data:image/png;base64,iVBORw0KGgo='

describe('a prompt', () => {
  it('is called by its first line', () => {
    expect(promptOf('## Publish it?\n\n- one\n')).toEqual({
      title: 'Publish it?',
      body: '\n- one',
    })
    expect(titleOf('# Ready? #')).toBe('Ready?')
    expect(titleOf('#1 of 3')).toBe('#1 of 3')
  })

  it.each(['```diff\n-a', '| a | b |\n|---|---|', '- one', '1. one', '> said', '![a](b)'])(
    'is not called by the beginning of something longer: %j',
    (text) => expect(promptOf(text)).toEqual({ title: null, body: text }),
  )

  it('needs no Markdown where that makes no difference', () => {
    expect(isPlain('Publish Spring?\nAdds 1.5 things, (all) of them - at once!')).toBe(true)
    for (const text of [
      'a *b*',
      '# a',
      'a\n- b',
      '1. a',
      'see https://a.b',
      '    a',
      '`a`',
      'a | b',
    ]) {
      expect(isPlain(text)).toBe(false)
    }
  })

  it('is folded when it is long', () => {
    const text = Array.from({ length: 400 }, (_, n) => `line ${n}`).join('\n')
    expect(folded(text)?.split('\n')).toHaveLength(12)
    expect(folded('one\ntwo')).toBeNull()
  })
})

describe('Markdown', () => {
  it('has tables, lists, code and emphasis', () => {
    const found = html('# A\n\n**b** `c`\n\n1. d\n\n| e | f |\n|---|--:|\n| g | h |')
    expect(found).toContain('<h3 class="md__heading md__heading--h1">A</h3>')
    expect(found).toContain('<strong>b</strong> <code>c</code>')
    expect(found).toContain('<ol start="1"><li>')
    expect(found).toContain('<td class="md__cell--right">h</td>')
  })

  it('keeps lines', () => {
    expect(html('one\ntwo')).toBe('<p>one<br/>two</p>')
  })

  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    'a <b onclick="x()">b</b>',
    '<iframe src="https://evil.example"></iframe>',
  ])('lets no HTML through: %s', (text) => {
    expect(html(text)).not.toMatch(/<(script|img|b|iframe)/)
    expect(html(text)).toContain('&lt;')
  })

  it.each([
    '[a](javascript:alert(1))',
    '[a](JaVaScRiPt:alert(1))',
    '[a](java&#115;cript:alert(1))',
    '[a](&#x6a;avascript:alert(1))',
    '[a](vbscript:x)',
    '[a](data:text/html;base64,PHNjcmlwdD4=)',
    `[a](${PNG})`,
    '[a](file:///etc/passwd)',
    '[a](//evil.example)',
    '[a](/sessions)',
    '<javascript:alert(1)>',
    '[a]\n\n[a]: javascript:alert(1)',
    '[a](attached:1)',
  ])('makes no link of %s', (text) => expect(html(text)).not.toContain('<a'))

  it('opens links elsewhere', () => {
    expect(html('[a](https://example.com/?a=1&b=2)')).toBe(
      '<p><a href="https://example.com/?a=1&amp;b=2" title="https://example.com/?a=1&amp;b=2" ' +
        'target="_blank" rel="noopener noreferrer">a</a></p>',
    )
    expect(html('see https://example.com now')).toContain('rel="noopener noreferrer"')
  })

  it('shows attached images, and no others', () => {
    expect(html(`![Chart](${PNG})`)).toBe(`<p><img src="${PNG}" alt="Chart"/></p>`)
    for (const address of [
      'https://evil.example/pixel.png',
      'data:image/svg+xml;base64,PHN2Zz4=',
      'data:image/png,raw',
      'attached:7',
    ]) {
      expect(html(`![Chart](${address})`)).not.toContain('<img')
    }
  })

  it('names an image that is too large', () => {
    const large = `data:image/png;base64,${'A'.repeat(LARGEST_IMAGE)}`
    expect(html(`![Chart](${large})`)).toContain('Image “Chart” (too large to show)')
  })

  it('hides nothing', () => {
    expect(html('a\u202eb `c\u202ed`\n\n```\ne\u202ef\n```')).not.toContain('\u202e')
    expect(html('a\u202eb')).toContain('\\u202e')
  })

  it('shows a diff as a diff', () => {
    const found = html('```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same\n```')
    expect(found.match(/class="is-hunk"/g)).toHaveLength(3)
    expect(found).toContain('<li class="is-removed">')
    expect(found).toContain('<li class="is-added">')
    expect(found).toContain('<pre>new</pre>')
  })

  it('colours code whose language it knows', () => {
    expect(html('```python\ndef f(): return 1\n```')).toContain('<span class="code--keyword">def')
    expect(html('```unheard-of\ndef f()\n```')).toContain('def f()')
    expect(coloured('x', 'unheard-of')).toBeNull()
  })
})
