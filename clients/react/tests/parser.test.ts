import { describe, expect, it } from 'vitest'
import { FrameParser } from '../src/client/parser'

const TEXT = 'retry: 1000\n\nid: 1\ndata: {"a":1}\n\n:\n\nid: 2\r\ndata: one\r\ndata: two\r\n\r\n'

describe('FrameParser', () => {
  it('gives the same frames however the text is torn', () => {
    const whole = new FrameParser().push(TEXT)
    expect(whole).toEqual([
      { id: '1', data: '{"a":1}' },
      { id: '2', data: 'one\ntwo' },
    ])
    for (let size = 1; size < TEXT.length; size += 1) {
      const parser = new FrameParser()
      const frames = []
      for (let at = 0; at < TEXT.length; at += size) {
        frames.push(...parser.push(TEXT.slice(at, at + size)))
      }
      expect(frames).toEqual(whole)
    }
  })

  it('remembers a place that came without anything else', () => {
    const parser = new FrameParser()
    expect(parser.push('id: 41\nretry: 1000\n\n')).toEqual([])
    expect(parser.lastId).toBe('41')
  })

  it('forgets half a frame when a new connection begins', () => {
    const parser = new FrameParser('4')
    parser.push('id: 5\ndata: {"ha')
    parser.restart()
    expect(parser.lastId).toBe('4')
    expect(parser.push('id: 5\ndata: whole\n\n')).toEqual([{ id: '5', data: 'whole' }])
  })

  it('keeps a frame of 5 MB whole', () => {
    const parser = new FrameParser()
    const long = 'x'.repeat(5_000_000)
    const text = `id: 1\ndata: ${long}\n\n`
    const frames = []
    for (let at = 0; at < text.length; at += 65_536) {
      frames.push(...parser.push(text.slice(at, at + 65_536)))
    }
    expect(frames).toHaveLength(1)
    expect(frames[0]?.data).toHaveLength(5_000_000)
  })
})
