import type { ConversationItem, TokenUsage } from '@callboard/react'
import { briefOf } from '../asks/tools'
import { dollars } from '../parts/amounts'
import { firstLine, onOneLine } from '../parts/visible'
import { text } from './text'

/** What a tool call is about, on one line. */
export function briefOfTool({ tool }: ConversationItem, folder?: string): string {
  if (!tool) return ''
  const file = tool.edits[0]?.path
  if (tool.command) return onOneLine(tool.command.trim()).slice(0, LONGEST)
  if (file) return onOneLine(pathIn(folder, file))
  return briefOf(tool.input) || (tool.name ? '' : firstLine(tool.result ?? ''))
}

const LONGEST = 300

/** A path as it is called in a folder, if it is in there. */
export function pathIn(folder: string | undefined, path: string): string {
  const start = folder ? `${folder.replace(/\/+$/, '')}/` : ''
  return start && path.startsWith(start) ? path.slice(start.length) : path
}

/** What is copied of an item: what it says, or what its tool did. */
export function copiedOf({ text: said, tool }: ConversationItem): string {
  if (!tool) return said
  const parts = [tool.command ?? JSON.stringify(tool.input, null, 2), tool.result]
  return parts.filter(Boolean).join('\n\n')
}

/** How many tokens one message took, in few words. */
export function usageOf(usage: TokenUsage): string {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, cost } = usage
  const cached = cacheReadTokens + cacheWriteTokens
  return [
    usage.model && onOneLine(usage.model),
    inputTokens + cached > 0 && text.usage.input(short(inputTokens + cached)),
    cached > 0 && text.usage.cached(short(cached)),
    outputTokens > 0 && text.usage.output(short(outputTokens)),
    cost !== null && dollars(cost),
  ]
    .filter(Boolean)
    .join(' · ')
}

function short(count: number): string {
  if (count < 1000) return String(count)
  return count < 999_500 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`
}

/** Where an item is: in the address, its cursor says which page has it, and its id which it is. */
export function linkTo(id: string, cursor: string | null): string {
  const address = new URL(window.location.href)
  address.searchParams.delete('view')
  if (cursor === null) address.searchParams.delete('at')
  else address.searchParams.set('at', cursor)
  address.hash = `message-${encodeURIComponent(id)}`
  return address.href
}

const HASH = '#message-'

/** The item that the address names. */
export function linkedItem(hash: string): string | null {
  if (!hash.startsWith(HASH)) return null
  try {
    return decodeURIComponent(hash.slice(HASH.length))
  } catch {
    return null
  }
}
