import { visible } from '../parts/visible'
import { objectOf, textOf } from './ask'
import { text } from './text'

/** What "always" would change in the agent's settings, a line for each part of it. */
export interface Rule {
  /** What it does. */
  readonly does: string
  /** The rules, directories or modes themselves, as they would be written. */
  readonly exactly: ReadonlyArray<string>
  /** For how long, or for whom. */
  readonly where: string
}

const WHERE: Readonly<Record<string, string>> = text.rules.where
const DOES: Readonly<Record<string, string>> = text.rules.does

/** The rules that an agent proposes, in words; what is not known here is shown as it is. */
export function rulesOf(suggestions: ReadonlyArray<unknown>): Rule[] {
  return suggestions.map(ruleOf)
}

function ruleOf(suggestion: unknown): Rule {
  const told = objectOf(suggestion)
  const where = WHERE[String(told.destination)] ?? textOf(told.destination) ?? ''
  const does = behaviour(told.behavior)
  switch (told.type) {
    case 'addRules':
    case 'replaceRules':
      return {
        does: told.type === 'addRules' ? does : text.rules.instead(does),
        exactly: list(told.rules).map(written),
        where,
      }
    case 'addDirectories':
      return { does: text.rules.directories, exactly: list(told.directories).map(asText), where }
    case 'setMode':
      return { does: text.rules.mode, exactly: [asText(told.mode)], where }
    default:
      return { does: text.rules.settings, exactly: [asText(suggestion)], where }
  }
}

function behaviour(told: unknown): string {
  return DOES[String(told)] ?? visible(String(told))
}

/** As Claude Code writes a rule: `Bash(git status)`. */
function written(rule: unknown): string {
  const { toolName, ruleContent } = objectOf(rule)
  if (typeof toolName !== 'string') return asText(rule)
  return visible(typeof ruleContent === 'string' ? `${toolName}(${ruleContent})` : toolName)
}

function list(value: unknown): ReadonlyArray<unknown> {
  return Array.isArray(value) ? value : []
}

function asText(value: unknown): string {
  return visible(typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value)))
}
