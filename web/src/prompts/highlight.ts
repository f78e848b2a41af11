import bash from 'highlight.js/lib/languages/bash'
import css from 'highlight.js/lib/languages/css'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import python from 'highlight.js/lib/languages/python'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { createLowlight } from 'lowlight'

const languages = { bash, css, go, ini, java, javascript, json, python, rust, sql, typescript }
const lowlight = createLowlight({ ...languages, xml, yaml })

/** A stretch of code, and what it is, such as `keyword`; null for the rest. */
export interface Coloured {
  readonly kind: string | null
  readonly text: string
}

/** Colouring more takes longer than anyone wants to wait. */
const LONGEST = 50_000

/** Code in stretches; null for a language that is not known here. */
export function coloured(code: string, language: string): ReadonlyArray<Coloured> | null {
  if (!lowlight.registered(language) || code.length > LONGEST) return null
  const found: Coloured[] = []
  collect(lowlight.highlight(language, code).children, null, found)
  return found
}

type Nodes = ReturnType<typeof lowlight.highlight>['children']

function collect(nodes: Nodes, kind: string | null, into: Coloured[]): void {
  for (const node of nodes) {
    if (node.type === 'text') into.push({ kind, text: node.value })
    if (node.type !== 'element') continue
    collect(node.children as Nodes, kindOf(node.properties.className) ?? kind, into)
  }
}

/** `['hljs-title', 'function_']` is a `title`. */
function kindOf(names: unknown): string | null {
  const first = Array.isArray(names) ? String(names[0]) : ''
  return first.startsWith('hljs-') ? first.slice(5) : null
}
