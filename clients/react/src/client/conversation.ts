/** A coding agent's conversation, put together from the pages that a server gives. */
import type { ConversationItem, ConversationPage, TokenUsage, ToolRun } from './wire.js'

/** Which part of a conversation to read: what ends at `before`, or follows `after`, or its end. */
export interface ConversationQuery {
  readonly before?: string | null | undefined
  readonly after?: string | null | undefined
  /** How many items a page. */
  readonly limit?: number | undefined
  /** A nested conversation, as `tool.subagent` names it. */
  readonly subagent?: string | undefined
  /** For how many milliseconds the server waits for something to follow `after`. */
  readonly wait?: number | undefined
}

/** A stretch of a conversation without gaps. */
export interface ConversationPart {
  /** In order, each once; a tool's result is with its call. */
  readonly items: ReadonlyArray<ConversationItem>
  /** Where the part before this ends; null at the start of the conversation. */
  readonly before: string | null
  /** Where the part after this starts. */
  readonly after: string
  /** The cursor behind the page that last had an item, for asking for all of it. */
  readonly cursors: ReadonlyMap<string, string>
}

/** Put a page before or after what is known; what was rewritten takes the place of all of it. */
export function mergeConversation(
  known: ConversationPart | null,
  page: ConversationPage,
  side: 'before' | 'after' = 'after',
): ConversationPart {
  const { before, after } = page
  if (!known || page.restarted) {
    return { items: joined([], page.items), before, after, cursors: cursorsOf(page) }
  }
  return side === 'after'
    ? {
        ...{ before: known.before, after, items: joined(known.items, page.items) },
        cursors: new Map([...known.cursors, ...cursorsOf(page)]),
      }
    : {
        ...{ before, after: known.after, items: joined(page.items, known.items) },
        cursors: new Map([...cursorsOf(page), ...known.cursors]),
      }
}

function cursorsOf({ items, after }: ConversationPage): Map<string, string> {
  return new Map(items.map(({ id }) => [id, after]))
}

/** The earlier items with the later ones: one that is there already keeps its place. */
function joined(
  earlier: ReadonlyArray<ConversationItem>,
  later: ReadonlyArray<ConversationItem>,
): ReadonlyArray<ConversationItem> {
  if (later.length === 0) return earlier
  const places = new Map(earlier.map(({ id }, index) => [id, index]))
  const items = [...earlier]
  for (const item of later) {
    const place = places.get(item.id)
    const known = place === undefined ? undefined : items[place]
    if (place === undefined || !known) {
      places.set(item.id, items.length)
      items.push(item)
    } else items[place] = completed(known, item)
  }
  return items
}

/** An item with what came of it later: its newer form, or the result of its call. */
function completed(known: ConversationItem, later: ConversationItem): ConversationItem {
  if (!known.tool || !later.tool || later.tool.name) return later
  const images = later.images.length > 0 ? later.images : known.images
  const cut = known.cut || later.cut
  return { ...known, tool: withResult(known.tool, later.tool), images, cut }
}

function withResult(call: ToolRun, { result, status, edits, subagent }: ToolRun): ToolRun {
  return {
    ...call,
    ...{ result: result ?? call.result, status },
    edits: edits.length > 0 ? edits : call.edits,
    subagent: subagent ?? call.subagent,
  } as ToolRun
}

const charged = new WeakMap<ConversationItem, ConversationItem>()

/**
 * The steps of a conversation, each with what its call of the model took, once. A transcript may
 * have that apart, which is not a step of its own.
 */
export function withUsage(items: ReadonlyArray<ConversationItem>): ReadonlyArray<ConversationItem> {
  const steps: ConversationItem[] = []
  const calls = new Map<string, number>()
  for (const item of items) {
    const last = steps.length - 1
    if (item.kind !== 'usage') steps.push(item)
    else if (item.usage && steps[last]?.author === 'model' && !steps[last].usage)
      steps[last] = changed(steps[last], item.usage)
    else continue
    const call = item.usage?.call
    if (!call) continue
    const earlier = steps[calls.get(call) ?? -1]
    if (earlier && calls.get(call) !== steps.length - 1)
      steps[calls.get(call) ?? -1] = changed(earlier, null)
    calls.set(call, steps.length - 1)
  }
  return steps
}

/** The item with another usage: the same object as before, so that it is not drawn again. */
function changed(item: ConversationItem, usage: TokenUsage | null): ConversationItem {
  const known = charged.get(item)
  if (known && known.usage === usage) return known
  const made = { ...item, usage }
  charged.set(item, made)
  return made
}
