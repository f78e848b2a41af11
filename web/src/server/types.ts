import type { Session } from '@callboard/react/client'

export type {
  Edge,
  Edit,
  Interaction,
  Phase,
  SerializedEvent,
  Session,
  Workflow,
} from '@callboard/react/client'

export type SessionStatus = Session['status']
