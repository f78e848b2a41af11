export * from './client/index.js'
export type { ConnectionStatus } from './feeds/feed.js'
export type {
  AskInteractiveOptions,
  InteractiveSessionResult,
  Schema,
} from './hooks/interactive.js'
export { type UseBoardResult, useBoard, useBoard as usePlates } from './hooks/useBoard.js'
export {
  type UseConversationOptions,
  type UseConversationResult,
  useConversation,
} from './hooks/useConversation.js'
export { type UseHostsResult, useHosts } from './hooks/useHosts.js'
export { type AskOptions, type UseHumanResult, useHuman } from './hooks/useHuman.js'
export {
  type UseHumanInteractiveOptions,
  type UseHumanInteractiveResult,
  useHumanInteractive,
} from './hooks/useHumanInteractive.js'
export { type UseInboxResult, useInbox } from './hooks/useInbox.js'
export { type UseInteractionResult, useInteraction } from './hooks/useInteraction.js'
export { type UseMessagesResult, useMessages } from './hooks/useMessages.js'
export { type UsePlateEventsResult, usePlateEvents } from './hooks/usePlateEvents.js'
export { type UseSessionResult, useSession } from './hooks/useSession.js'
export { type UseSessionsResult, useSessions } from './hooks/useSessions.js'
export {
  type StatisticsResult,
  useOverview,
  useWorkflowStats,
} from './hooks/useStatistics.js'
export { useText } from './hooks/useText.js'
export { type UseBudgetResult, useBudget, useUsage } from './hooks/useUsage.js'
export { type UseWorkersResult, useWorkers } from './hooks/useWorkers.js'
export { type UseWorkflowResult, useWorkflow } from './hooks/useWorkflow.js'
export { useWorkflowActions, type WorkflowActionsResult } from './hooks/useWorkflowActions.js'
export { useWorkflowData, type WorkflowDataResult } from './hooks/useWorkflowData.js'
export { useWorkflowHITL, type WorkflowHITLResult } from './hooks/useWorkflowHITL.js'
export { type UseWorkflowsResult, useWorkflows } from './hooks/useWorkflows.js'
export { useWorkflowVCR, type WorkflowVCRResult } from './hooks/useWorkflowVCR.js'
export {
  useWorkflowClient,
  WorkflowClientProvider,
  type WorkflowClientProviderProps,
} from './WorkflowClientProvider.js'
