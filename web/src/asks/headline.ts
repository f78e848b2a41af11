import type { Interaction } from '../server/types'
import type { Ask } from './ask'
import { text } from './text'

/** What is asked, in a few words; exactly what it is stands below. */
export function headlineOf(question: Pick<Interaction, 'type' | 'prompt'>, ask: Ask): string {
  switch (question.type) {
    case 'permission':
      return text.headlines.permission(ask.toolName)
    case 'plan':
      return text.headlines.plan
    case 'question':
      return text.headlines.questions(ask.questions.length)
    default:
      return question.prompt
  }
}
