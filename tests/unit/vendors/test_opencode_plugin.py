"""What our plugin in opencode does with a message, with a session of which it knows nothing yet."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from callboard.vendors.opencode import settings

_OPENCODE = """
import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { CallboardPlugin } from "./plugin.mjs"

const [folder, told] = process.argv.slice(2)
const { fails, messages } = JSON.parse(told)
const asked = []
const prompts = []
const session = {
  async messages({ query }) {
    asked.push(query?.limit ?? null)
    if (fails === "throws") throw new Error("busy")
    if (fails === "returns") return { error: { name: "busy" } }
    return { data: messages.slice(-(query?.limit ?? messages.length)).map((info) => ({ info })) }
  },
  async promptAsync({ body }) {
    prompts.push(body.agent ?? null)
    return { response: { status: 204 } }
  },
}
const box = join(folder, "mailbox", `opencode.${process.pid}`)
await CallboardPlugin({ client: { session }, directory: "/p" })
const letter = { text: "Hello.", tail: "0", sessionID: "s1", folder: "/p" }
writeFileSync(join(box, "m1.json"), JSON.stringify(letter))
let stages
do {
  await new Promise((resolve) => setTimeout(resolve, 10))
  stages = readdirSync(box).filter((one) => one.startsWith("m1."))
} while (stages[0] === "m1.json" || stages[0] === "m1.taken")
console.log(JSON.stringify({ stages, asked, prompts }))
process.exit(0)
"""


def given(tmp_path: Path, **told: Any) -> dict[str, Any]:
    """What becomes of one message."""
    plugin = Path(settings.__file__).with_name("plugin.js").read_text("utf-8")
    plugin = plugin.replace("@FOLDER@", str(tmp_path)).replace("@ANSWERS@", "")
    (tmp_path / "plugin.mjs").write_text(plugin)
    (tmp_path / "opencode.mjs").write_text(_OPENCODE)
    script = ["node", tmp_path / "opencode.mjs", tmp_path, json.dumps(told)]
    done = subprocess.run(script, capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


@pytest.mark.parametrize("how", ["throws", "returns"])
def test_what_was_not_sent_can_be_sent_again(tmp_path: Path, how: str):
    found = given(tmp_path, fails=how, messages=[])
    assert (found["stages"], found["prompts"]) == (["m1.refused"], [])


def test_the_mode_is_that_of_the_last_prompt(tmp_path: Path):
    messages = [{"role": "user", "agent": "build"}, {"role": "user", "agent": "plan"}]
    found = given(tmp_path, messages=[*messages, {"role": "assistant"}])
    assert (found["stages"], found["prompts"]) == (["m1.given"], ["plan"])


def test_only_as_much_of_the_session_is_loaded_as_it_takes(tmp_path: Path):
    said = [{"role": "assistant"}]
    prompt = [{"role": "user", "agent": "plan"}]
    assert given(tmp_path, messages=[*said * 500, *prompt, *said])["asked"] == [20]
    (tmp_path / "far").mkdir()
    far = given(tmp_path / "far", messages=[*said * 500, *prompt, *said * 50])
    assert (far["asked"], far["prompts"]) == ([20, 200], ["plan"])


def test_a_session_without_a_prompt(tmp_path: Path):
    found = given(tmp_path, messages=[])
    assert (found["stages"], found["prompts"]) == (["m1.given"], [None])
