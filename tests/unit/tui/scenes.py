"""Boards that tests look at."""

from tests.unit.tui.scripted import ScriptedSource, ago, plate, question, session

COMMAND = 'psql "$DATABASE_URL" -c "DROP TABLE carts_old"'

QUESTIONS = [
    {
        "question": "Which store should carts live in?",
        "header": "Store",
        "multiSelect": False,
        "options": [
            {"label": "PostgreSQL", "description": "one more table beside orders"},
            {"label": "Redis", "description": "fast, and gone after a restart"},
        ],
    },
    {
        "question": "What should the first version have?",
        "header": "Scope",
        "multiSelect": True,
        "options": [
            {"label": "Guest carts", "description": ""},
            {"label": "Merge at login", "description": ""},
            {"label": "Reminders", "description": ""},
        ],
    },
]


def permission(id: str = "q-shop", plate_id: str = "shop", **more):
    config = {
        "plateId": plate_id,
        "agent": "claude",
        "toolName": "Bash",
        "toolInput": {"command": COMMAND, "description": "Drop the table that nobody reads"},
        "cwd": f"/home/ann/{plate_id}",
    }
    return question(id, "permission", prompt=f"Run: {COMMAND}", config=config | more)


def choices(id: str = "q-docs", plate_id: str = "docs", questions=QUESTIONS):
    config = {"plateId": plate_id, "toolName": "AskUserQuestion", "questions": questions}
    asks = "Which store should carts live in? (and 1 more)"
    return question(id, "question", prompt=asks, config=config, created_at=ago(seconds=40))


def plan(id: str = "q-api", plate_id: str = "api"):
    config = {
        "plateId": plate_id,
        "toolName": "ExitPlanMode",
        "plan": "# Move sessions\n1. Write to both\n2. Read from the new one",
    }
    return question(id, "plan", prompt="Approve the plan: Move sessions", config=config)


NINE = ["completed"] * 4 + ["pending"] * 5
TODOS = [
    {"text": "Read the schema", "status": "completed"},
    {"text": "Write the migration", "status": "completed"},
    {"text": "Drop the old table", "status": "in_progress"},
    {"text": "Run the suite", "status": "pending"},
    {"text": "Open the pull request", "status": "pending"},
]


def busy_board() -> ScriptedSource:
    """A working day: somebody waits, some run, one is done, one is closed."""
    return ScriptedSource(
        [
            plate(
                "shop",
                "awaiting_approval",
                name="checkout",
                at=ago(minutes=2),
                gitBranch="fix/cart-race",
                waitingFor=f"Run: {COMMAND}",
                interactionId="q-shop",
                todos=TODOS,
                todoProgress="2/5",
                unseen=True,
                tmuxTarget="%3",
                model="opus",
                prompt="Fix the race between two carts of one person.",
                lastMessage="The old table is read by nobody. I would drop it now.",
                background=[{"id": "b1", "kind": "shell", "description": "npm run dev"}],
            ),
            plate(
                "docs",
                "awaiting_input",
                at=ago(seconds=40),
                agent="codex",
                waitingFor="Which store should carts live in? (and 1 more)",
                unseen=True,
            ),
            plate("api", "running", at=ago(seconds=3), lastTool="Edit", prompt="Split the router"),
            plate(
                "ledger",
                "running",
                at=ago(seconds=12),
                pinned=True,
                name="month end",
                lastTool="Bash",
                gitBranch="feature/month-end-closing",
                prompt="Close the month",
                todos=[{"text": f"Step {n}", "status": s} for n, s in enumerate(NINE)],
                agent="opencode",
            ),
            plate(
                "search",
                "idle",
                at=ago(minutes=7),
                attention=True,
                unseen=True,
                lastMessage="All 48 tests pass. The index is rebuilt in 3 s instead of 41 s.",
            ),
            plate("blog", "idle", at=ago(hours=3), lastMessage="Published.", agent="gemini"),
            plate(
                "infra",
                "error",
                at=ago(minutes=30),
                error="rate_limit: try again in 20 minutes",
                unseen=True,
            ),
            plate("old", "closed", at=ago(days=2), ended="prompt_input_exit"),
        ],
        [
            permission(),
            choices(),
            question(
                "q-trip",
                "approval",
                prompt="Approve this plan?\nDay 1 in Lisbon",
                session_id="s1",
                phase="plan",
                created_at=ago(minutes=5),
            ),
        ],
        [session("s1", "trip")],
    )


def one(told, *questions) -> ScriptedSource:
    return ScriptedSource([told], questions)
