import { describe, expectTypeOf, it } from 'vitest'
import type { z } from 'zod'
import type {
  AskInteractiveOptions,
  CallboardClient,
  ForkAt,
  ForkResult,
  InputPayload,
  Interaction,
  InteractiveSessionResult,
  PauseResult,
  PendingInteraction,
  ResumeResult,
  RulingResponse,
  SerializedEvent,
  UseHumanInteractiveResult,
  UseWorkflowResult,
  WorkflowActionsResult,
  WorkflowDataResult,
  WorkflowHITLResult,
  WorkflowVCRResult,
} from '../src/index'
import {
  isEvent,
  isKnownEvent,
  useHumanInteractive,
  useWorkflow,
  useWorkflowData,
} from '../src/index'

interface MyState {
  readonly city: string
}

type Status = 'connecting' | 'connected' | 'disconnected' | 'error'

describe('the signatures of the design', () => {
  it('has the results of the groups', () => {
    expectTypeOf<WorkflowDataResult<MyState>>().toEqualTypeOf<{
      readonly events: ReadonlyArray<SerializedEvent>
      readonly state: MyState | undefined
      readonly position: number
      readonly status: Status
      readonly isLoading: boolean
      readonly error: Error | null
    }>()
    expectTypeOf<WorkflowActionsResult>().toExtend<{
      readonly create: (workflowId: string, input: string) => Promise<string>
      readonly send: (sessionId: string, payload: InputPayload) => Promise<void>
      readonly isCreating: boolean
      readonly isSending: boolean
    }>()
    expectTypeOf<WorkflowVCRResult>().toExtend<{
      readonly pause: (sessionId: string) => Promise<PauseResult>
      readonly resume: (sessionId: string) => Promise<ResumeResult>
      readonly fork: (sessionId: string, at: ForkAt) => Promise<ForkResult>
      readonly isPausing: boolean
      readonly isResuming: boolean
      readonly isForking: boolean
    }>()
    expectTypeOf<WorkflowHITLResult>().toEqualTypeOf<{
      readonly pending: ReadonlyArray<PendingInteraction>
      readonly respond: (
        sessionId: string,
        interactionId: string,
        value: string,
        approved?: boolean,
      ) => Promise<void>
      readonly isResponding: boolean
    }>()
    expectTypeOf<PendingInteraction>().toExtend<{
      readonly id: string
      readonly prompt: string
      readonly type: 'approval' | 'choice'
      readonly options?: ReadonlyArray<string>
      readonly timestamp: Date
    }>()
  })

  it('has the result of the one hook', () => {
    expectTypeOf(useWorkflow<MyState>).parameters.toEqualTypeOf<[string | null]>()
    expectTypeOf(useWorkflow<MyState>).returns.toEqualTypeOf<UseWorkflowResult<MyState>>()
    expectTypeOf<UseWorkflowResult<MyState>>().toExtend<{
      readonly status: Status
      readonly isConnected: boolean
      readonly events: ReadonlyArray<SerializedEvent>
      readonly state: MyState | undefined
      readonly position: number
      readonly isRunning: boolean
      readonly isPaused: boolean
      readonly isCompleted: boolean
      readonly pendingInteractions: ReadonlyArray<PendingInteraction>
      readonly send: (payload: InputPayload) => Promise<void>
      readonly pause: () => Promise<PauseResult>
      readonly resume: () => Promise<ResumeResult>
      readonly fork: (at: ForkAt) => Promise<ForkResult>
      readonly isLoading: boolean
      readonly isSending: boolean
      readonly isPausing: boolean
      readonly isResuming: boolean
      readonly isForking: boolean
      readonly error: Error | null
    }>()
    expectTypeOf<UseWorkflowResult<MyState>['stateAt']>().returns.resolves.toEqualTypeOf<MyState>()
  })

  it('knows nothing of a state that nobody has typed', () => {
    expectTypeOf(useWorkflowData).returns.toHaveProperty('state').toEqualTypeOf<unknown>()
  })

  it('has the members and the options of an interactive session', () => {
    type Asked = UseHumanInteractiveResult<{ readonly approved: boolean }>
    expectTypeOf(useHumanInteractive<{ readonly approved: boolean }>).returns.toEqualTypeOf<Asked>()
    expectTypeOf<keyof Asked>().toEqualTypeOf<
      'request' | 'requestAsync' | 'status' | 'data' | 'error' | 'sessionId' | 'cancel' | 'reset'
    >()
    expectTypeOf<Asked['request']>().returns.toEqualTypeOf<void>()
    expectTypeOf<Asked['requestAsync']>().returns.resolves.toEqualTypeOf<
      InteractiveSessionResult<{ readonly approved: boolean }>
    >()
    expectTypeOf<Asked['status']>().toEqualTypeOf<'idle' | 'pending' | 'success' | 'error'>()
    expectTypeOf<Asked['error']>().toEqualTypeOf<Error | null>()
    expectTypeOf<Asked['sessionId']>().toEqualTypeOf<string | null>()
    expectTypeOf<Asked['cancel']>().toEqualTypeOf<() => void>()
    expectTypeOf<Asked['reset']>().toEqualTypeOf<() => void>()
    expectTypeOf<{
      systemPrompt?: string
      context?: Record<string, unknown>
      model?: 'opus' | 'sonnet' | 'haiku'
      cwd?: string
      mcpConfig?: string
      timeout?: number
      outcomeSchema?: {
        type: 'approval' | 'selection' | 'freeform' | 'structured'
        options?: string[]
        jsonSchema?: Record<string, unknown>
      }
      zodSchema?: z.ZodType<{ approved: boolean }>
      captureTranscript?: boolean
      blockOrchestration?: boolean
    }>().toExtend<AskInteractiveOptions<{ readonly approved: boolean }>>()
  })

  it('gives the response its type', () => {
    type Asked = ReturnType<typeof useHumanInteractive<{ readonly approved: boolean }>>
    expectTypeOf<NonNullable<Asked['data']>['response']>().toEqualTypeOf<{
      readonly approved: boolean
    }>()
    expectTypeOf<NonNullable<ReturnType<typeof useHumanInteractive>['data']>>().toEqualTypeOf<
      InteractiveSessionResult<unknown>
    >()
  })

  it('refuses a schema of another type, and an outcome that does not exist', () => {
    const options: AskInteractiveOptions<{ readonly approved: boolean }> = {
      // @ts-expect-error: it gives something else
      zodSchema: {} as z.ZodType<string>,
      // @ts-expect-error: there is no such outcome
      outcomeSchema: { type: 'aproval' },
    }
    expectTypeOf(options).not.toBeAny()
  })
})

describe('events', () => {
  it('are told apart by their name, and unknown ones are let through', () => {
    const event = {} as SerializedEvent
    expectTypeOf(event.payload).toEqualTypeOf<Readonly<Record<string, unknown>>>()
    if (isEvent(event, 'text:delta')) expectTypeOf(event.payload.delta).toEqualTypeOf<string>()
    if (isKnownEvent(event) && event.name === 'phase:entered') {
      expectTypeOf(event.payload.visit).toEqualTypeOf<number>()
    }
  })

  it('are refused under a name that does not exist', () => {
    // @ts-expect-error: there is no such name
    isEvent({} as SerializedEvent, 'text:dleta')
  })
})

describe('questions', () => {
  it('have responses that follow from their type', () => {
    const question = {} as Interaction
    if (question.type === 'approval') {
      expectTypeOf(question.response?.value).toEqualTypeOf<'yes' | 'no' | undefined>()
    }
    if (question.type === 'choice') {
      expectTypeOf(question.response?.value).toEqualTypeOf<string | undefined>()
    }
    if (question.type === 'permission') {
      expectTypeOf(question.response).toEqualTypeOf<RulingResponse | null>()
    }
    if (question.type === 'interactive_session') {
      expectTypeOf(question.response).toEqualTypeOf<unknown>()
    }
  })
})

describe('the client', () => {
  it('gives states the type that is asked for', () => {
    const client = {} as CallboardClient
    expectTypeOf(client.getStateAt<MyState>).returns.resolves.toEqualTypeOf<MyState>()
  })
})
