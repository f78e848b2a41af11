/** One frame of a stream of server-sent events. */
export interface Frame {
  /** The place after this frame: what to come back with. */
  readonly id: string
  readonly data: string
}

/**
 * Takes the text of a stream in whatever pieces it comes, and gives its frames.
 *
 * Lines end with LF, CRLF or CR, which may be torn apart between two pieces. A line that is
 * not finished is kept in pieces until it is, so that a frame of 5 MB costs no more than its length.
 */
export class FrameParser {
  /** The place after the last frame, also when that frame had nothing else to say. */
  lastId: string
  private rest: string[] = []
  private data: string[] = []
  private id: string | undefined
  private held = ''

  constructor(lastId = '') {
    this.lastId = lastId
  }

  /** A new connection starts: what the last one left unfinished comes again. */
  restart(): void {
    this.rest = []
    this.data = []
    this.id = undefined
    this.held = ''
  }

  /** The frames that are complete with this piece. */
  push(piece: string): Frame[] {
    const text = this.held + piece
    // A CR at the end may be the first half of a CRLF.
    this.held = text.endsWith('\r') ? '\r' : ''
    const lines = text.slice(0, text.length - this.held.length).split(/\r\n|\n|\r/)
    const unfinished = lines.pop() ?? ''
    const frames: Frame[] = []
    for (const line of lines) {
      const frame = this.line(this.finished(line))
      if (frame) frames.push(frame)
    }
    if (unfinished !== '') this.rest.push(unfinished)
    return frames
  }

  private finished(end: string): string {
    if (this.rest.length === 0) return end
    const whole = this.rest.join('') + end
    this.rest = []
    return whole
  }

  private line(line: string): Frame | undefined {
    if (line === '') return this.dispatch()
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') this.data.push(value)
    // The standard ignores an id with a null character.
    else if (field === 'id' && !value.includes('\0')) this.id = value
    return undefined
  }

  private dispatch(): Frame | undefined {
    if (this.id !== undefined) this.lastId = this.id
    this.id = undefined
    if (this.data.length === 0) return undefined
    const data = this.data.join('\n')
    this.data = []
    return { id: this.lastId, data }
  }
}
