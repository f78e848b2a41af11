"""Claude Code as an agent: one agent reads, a person decides, another agent makes the changes.

The first agent can only read. The second asks before it changes a file or runs a command. These
are ordinary questions of the session, which you answer here in the terminal.

    npm install -g @anthropic-ai/claude-code
    python examples/claude_code.py "the error messages"
"""

import asyncio
import sys

from callboard import Approval, ClaudeCode, Phase, State, Workflow, cli_prompt, run


class Review(State):
    topic: str = ""
    findings: str = ""
    changes: str = ""


def set_up(state: Review, topic: str) -> None:
    state.topic = topic


def keep_findings(state: Review, findings: str) -> None:
    state.findings = findings


def keep_changes(state: Review, changes: str) -> None:
    state.changes = changes


reader = ClaudeCode(
    name="reader",
    prompt=lambda s: f"Review {s.topic} in this project. Name the three worst problems.",
    allowed_tools=["Read", "Grep", "Glob"],
)
writer = ClaudeCode(
    name="writer",
    prompt=lambda s: f"Fix these problems, and nothing else:\n\n{s.findings}",
    allowed_tools=["Read", "Grep", "Glob"],
)

claude_code = Workflow(
    "claude-code",
    state=Review,
    start=set_up,
    phases=[
        Phase(
            "review",
            agent=reader,
            update=keep_findings,
            human=Approval(lambda s: f"Fix this?\n{s.findings}"),
            next=lambda s: "fix" if s.approved else "leave",
            to=["fix", "leave"],
        ),
        Phase("fix", agent=writer, update=keep_changes, terminal=True),
        Phase("leave", terminal=True),
    ],
)


async def main() -> None:
    result = await run(claude_code, sys.argv[1], human_input=cli_prompt())
    print(result.state.changes or "Nothing was changed.")


if __name__ == "__main__":
    asyncio.run(main())
