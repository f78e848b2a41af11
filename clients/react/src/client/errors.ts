import type { Problem } from './wire.js'

/** The root of every error of this package. `code` is stable; `message` is for people. */
export class CallboardError extends Error {
  override readonly name: string = 'CallboardError'
  /** What was involved, as the server told it. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    message: string,
    readonly code: string = 'ERROR',
    /** The HTTP status, or 0 when nothing answered. */
    readonly status: number = 0,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message)
    this.details = details
  }
}

/** No server answers, or the connection was lost. Trying again may help. */
export class ServerUnreachable extends CallboardError {
  override readonly name = 'ServerUnreachable'
}

/** A server met an error that it did not expect, or something else answered in its place. */
export class ServerFailed extends CallboardError {
  override readonly name = 'ServerFailed'
}

/** The server requires a token, or does not know this one. */
export class Unauthenticated extends CallboardError {
  override readonly name = 'Unauthenticated'
}

/** The token's scope does not reach, or the server does not let this page in. */
export class Forbidden extends CallboardError {
  override readonly name = 'Forbidden'
}

/** Not found. */
export class NotFound extends CallboardError {
  override readonly name: string = 'NotFound'
}

/** No session has this id, or it was deleted. */
export class SessionNotFound extends NotFound {
  override readonly name = 'SessionNotFound'
}

/** Something that was sent does not fit; `details.field` says what. */
export class ValidationError extends CallboardError {
  override readonly name = 'ValidationError'
}

/** Someone or something else was first. */
export class Conflict extends CallboardError {
  override readonly name: string = 'Conflict'
}

/** Events that were read are gone: the database was restored, or failed over. Read it again. */
export class HistoryChanged extends Conflict {
  override readonly name = 'HistoryChanged'
}

/** Someone else has answered the question already; that answer counts. */
export class AlreadyAnswered extends Conflict {
  override readonly name = 'AlreadyAnswered'
}

/** The question expired, was taken back, or its session has ended. */
export class InteractionClosed extends Conflict {
  override readonly name = 'InteractionClosed'
}

/** Someone else is working on the question; it can still be answered. */
export class Claimed extends Conflict {
  override readonly name = 'Claimed'
}

/** The session has ended; fork it instead. */
export class NotResumable extends Conflict {
  override readonly name = 'NotResumable'
}

type ErrorClass = new (
  message: string,
  code: string,
  status: number,
  details: Readonly<Record<string, unknown>>,
) => CallboardError

const BY_CODE: Readonly<Record<string, ErrorClass>> = {
  UNAUTHENTICATED: Unauthenticated,
  FORBIDDEN: Forbidden,
  NOT_FOUND: NotFound,
  SESSION_NOT_FOUND: SessionNotFound,
  WORKFLOW_NOT_FOUND: NotFound,
  INTERACTION_NOT_FOUND: NotFound,
  VALIDATION_ERROR: ValidationError,
  CONFLICT: Conflict,
  HISTORY_CHANGED: HistoryChanged,
  ALREADY_ANSWERED: AlreadyAnswered,
  INTERACTION_CLOSED: InteractionClosed,
  CLAIMED: Claimed,
  NOT_RESUMABLE: NotResumable,
}

const BY_STATUS: Readonly<Record<number, ErrorClass>> = {
  400: ValidationError,
  401: Unauthenticated,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
}

/** The error in a response. An unknown code is mapped by its status. */
export function errorOf(status: number, problem: Problem): CallboardError {
  const { code, message, ...details } = problem
  const unknown = status >= 500 ? ServerFailed : CallboardError
  const kind = BY_CODE[code] ?? BY_STATUS[status] ?? unknown
  return new kind(message, code, status, details)
}

/** Whether trying the same again may help: the server was away, busy, or broke. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof CallboardError)) return false
  return error.status === 0 || error.status >= 500 || error.status === 408 || error.status === 429
}
