export {
  type CallboardClient,
  createClient,
  type ForkOptions,
  type InputPayload,
  type InteractionFilters,
  type SessionFilters,
  type StartOptions,
  type StatisticsPeriod,
  type UsageQuery,
} from './client.js'
export {
  type ConversationPart,
  type ConversationQuery,
  mergeConversation,
} from './conversation.js'
export { mergeDeltas, type TextOptions, textOf } from './deltas.js'
export * from './errors.js'
export {
  type EventName,
  type EventOf,
  isEvent,
  isKnownEvent,
  isTerminal,
  type KnownEvent,
  type Receipt,
  type SerializedEvent,
} from './events.js'
export { isOpen } from './interactions.js'
export * from './payloads.js'
export { isPlateEvent, type PlateEventName } from './plates.js'
export type { EventStream, StreamListener, StreamOptions, StreamStatus } from './stream.js'
export { type PendingInteraction, type Summary, summarise } from './summary.js'
export type { ClientOptions } from './transport.js'
export type * from './wire.js'
