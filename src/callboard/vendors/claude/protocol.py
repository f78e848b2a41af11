"""What agents are taught about status files: a section of CLAUDE.md, and an agent for plans."""

import re
from pathlib import Path
from typing import Final

from callboard.vendors.claude.home import home
from callboard.vendors.settings.installing import AgentSettings, InstallPlan, Scope
from callboard.vendors.settings.records import InstallRecord

BEGIN: Final = "<!-- callboard: status files. `callboard hooks uninstall` removes this section. -->"
END: Final = "<!-- callboard: end of status files -->"
MADE: Final = (
    "<!-- callboard: made by `callboard hooks install --status-files`, and removed by "
    "`callboard hooks uninstall`. Remove this line to keep the file. -->"
)

SECTION: Final = f"""{BEGIN}
## Workflow State Protocol

Work that is delegated in phases has its status in `.claude/state/workflow.json`, and for people in
`.claude/workflow_state_system.md`. Hooks keep both up; never edit them by hand.

**If you delegate**
1. For a task of several phases, call the agent `delegation-orchestrator`, or create the workflow:
   `callboard task create "TASK" --phase "TITLE:AGENT" --phase "TITLE:AGENT"`
2. Call the agent of each active phase. Its prompt contains the line `Phase ID: phase_N`, the
   phase's title, and the `context_for_next` of the phases before it. Phases that are active
   together are called together.
3. When an agent ends, its phase is completed and the next one is active: read the file again. A
   failed phase is tried again by calling its agent again.
4. When a hook gives you a list of things to do, make yours exactly that.

**If you work on a phase**
1. At the start, read `.claude/state/workflow.json`: your phase, and `context_for_next` of those
   before it.
2. At the end, close your answer with these lines; the hook records them:
   `Deliverables: path/one.py, path/two.py`
   `Context for next: what the next agent has to know, in one line`
3. If you cannot do it, close with `PHASE FAILED: why`.
{END}
"""

ORCHESTRATOR: Final = f"""---
name: delegation-orchestrator
description: Breaks a task of several steps into phases, picks an agent for each, and creates the \
workflow state. Use it before you delegate work that takes more than one agent.
tools: Read, Glob, Grep, Bash
---
{MADE}

You make the plan of a delegated task. You do none of the work yourself.

1. Read the task word for word. Look into the project only as far as the plan needs it.
2. Break the task into phases, few rather than many. Each has one outcome that can be seen, and a
   title that says it.
3. Pick an agent for each phase, by the `description` in `.claude/agents/*.md` and
   `~/.claude/agents/*.md`. Where none fits: `general-purpose`.
4. Create the workflow with the task as it was given to you:

       callboard task create "TASK" --phase "TITLE:AGENT" --phase "TITLE:AGENT"

   Phases that do not need each other form a wave, and are worked on together:
   `--phase "TITLE:AGENT@2" --phase "TITLE:AGENT@2"`. A plan that the project has as a template:
   `callboard task create "TASK" --template NAME`.
5. Start it: `callboard task start`
6. Answer with the phases in their order, and for each the call that has to be made: the agent, and
   a prompt with the line `Phase ID: phase_N`, the title, and what it has to know.
"""


class ProtocolSection(AgentSettings):
    """CLAUDE.md, with our section at its end."""

    agent = "claude"

    def place(self, scope: Scope, project: Path) -> Path:
        """The project's file, or the person's own."""
        return (project if scope == "project" else home()) / "CLAUDE.md"

    def installed(self, text: str | None, plan: InstallPlan) -> str:
        """The text with our section appended."""
        before = text or ""
        apart = "" if not before else "\n" if before.endswith("\n") else "\n\n"
        added = apart + SECTION
        return before + (added.replace("\n", "\r\n") if "\r\n" in before else added)

    def uninstalled(self, text: str, record: InstallRecord | None, folder: Path) -> str | None:
        """The text without our section; None if there was no file before."""
        bare = record is not None and not (record.before or "").endswith("\n")
        breaks = r"(\r?\n){0,2}" if bare else r"(\r?\n)?"
        ours = f"{breaks}{re.escape(BEGIN)}.*?{re.escape(END)}" + r"(\r?\n)?"
        left = re.sub(ours, "", text, count=1, flags=re.DOTALL)
        return None if record and record.before is None and not left.strip() else left

    def is_current(self, text: str, plan: InstallPlan) -> bool:
        """Whether the section is there and up to date."""
        return SECTION in text.replace("\r\n", "\n")


class OrchestratorAgent(AgentSettings):
    """The file of the agent that makes plans. One written by someone else is left alone."""

    agent = "claude"

    def place(self, scope: Scope, project: Path) -> Path:
        """In the project's agents folder, or the person's own."""
        root = project / ".claude" if scope == "project" else home()
        return root / "agents" / "delegation-orchestrator.md"

    def installed(self, text: str | None, plan: InstallPlan) -> str:
        """Our file."""
        return ORCHESTRATOR

    def uninstalled(self, text: str, record: InstallRecord | None, folder: Path) -> str | None:
        """None if it is ours."""
        return None if self.is_ours(text) else text

    def is_current(self, text: str, plan: InstallPlan) -> bool:
        """Whether it is up to date, or someone else's."""
        return text == ORCHESTRATOR or not self.is_ours(text)

    def is_ours(self, text: str) -> bool:
        """Whether we wrote it."""
        return MADE in text


LESSONS: Final = (ProtocolSection(), OrchestratorAgent())
"""What is installed along with the hooks."""
