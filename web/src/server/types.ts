import type { Session } from '@callboard/react'

export type {
  Edge,
  Edit,
  Interaction,
  Phase,
  Plate,
  RelayHost,
  SerializedEvent,
  Session,
  Workflow,
} from '@callboard/react'

export type SessionStatus = Session['status']
