import { plural } from '../parts/plural'

/** What a person reads where a coding agent asks for something. */
export const text = {
  truncated: {
    title: 'Too long to store: only part of it is here.',
    what: 'Read all of it in the agent’s terminal, and allow it there. You can still deny it here.',
  },
  plan: 'The plan',
  call: {
    command: 'The command',
    edits: 'The edit',
    content: 'File content',
    other: 'The input',
  },
  edit: (at: number, of: number) => `Edit ${at} of ${of}`,
  everywhere: 'everywhere in the file',
  answer: 'Answer',
  answerAll: 'Answer every question.',
  answerOne: 'Choose an option, or write an answer.',
  several: 'Choose one or more.',
  ownWords: 'Or in your own words',
  yourAnswer: 'Your answer',
  omittedQuestions: (count: number) => omitted(count, 'question'),
  omittedOptions: (count: number) => omitted(count, 'option'),
  declineFolded: 'Decline to answer…',
  decline: 'Decline',
  permission: {
    yes: 'Allow',
    no: 'Deny',
    label: 'Feedback for the agent',
    folded: 'Deny with feedback…',
  },
  planned: {
    yes: 'Approve plan',
    no: 'Keep planning',
    label: 'Requested changes',
    folded: 'Request changes…',
  },
  sentWith: (no: string) => `Sent to the agent with “${no}”. Ctrl + Enter sends both.`,
  always: {
    folded: 'Always allow…',
    rule: (agent: string) =>
      `This rule is added to the settings of ${agent}, which then stops asking:`,
    refused: 'You can answer, but not change settings. That needs a token with the scope',
    scope: 'operate',
    confirm: 'Always allow this',
  },
  edited: {
    folded: 'Edit…',
    title: 'Your changes',
    by: (who: string) => `Edited by ${who}`,
    byUnknown: 'Edited before it was allowed',
    notJson: 'This is not valid JSON.',
    unknown: 'The agent gets the result, but not what you changed.',
    refused: 'You can answer, but not edit what runs. That needs a token with the scope',
    confirm: 'Allow my version',
  },
  keys: { group: 'This question', always: 'Show the rule of “Always allow”' },
  headlines: {
    permission: (tool: string) => `Allow ${tool || 'this'}?`,
    plan: 'Approve this plan?',
    questions: (count: number) =>
      count > 1 ? `Answer ${plural(count, 'question')}` : 'Answer a question',
  },
  rules: {
    where: {
      session: 'for this session',
      localSettings: 'for this project, for you (.claude/settings.local.json)',
      projectSettings: 'for this project, for everyone (.claude/settings.json)',
      userSettings: 'for all your projects (~/.claude/settings.json)',
      cliArg: 'for this session',
    },
    does: { allow: 'Allow without asking', deny: 'Deny without asking', ask: 'Always ask' },
    instead: (does: string) => `Instead of all rules: ${does}`,
    directories: 'Let it work in',
    mode: 'Switch the permission mode to',
    settings: 'Change its settings',
  },
} as const

function omitted(count: number, what: string): string {
  const many = `${plural(count, `more ${what}`)} ${count === 1 ? 'is' : 'are'}`
  return `${many} too long to show, or too many. Answer in the agent’s own terminal to see all.`
}
